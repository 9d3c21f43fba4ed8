// Times as people say them. The server renders with it, and pages keep their times fresh with it: one wording for both.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * "just now", "3 min ago", "in 1 h 20 min", "2 days ago".
 * @param {number} atMs
 * @param {number} nowMs
 */
export function relativeTime(atMs, nowMs) {
  const seconds = Math.round((atMs - nowMs) / 1000);
  const length = Math.abs(seconds);
  if (length < 45) return seconds > 0 ? 'in a moment' : 'just now';
  const words = lengthInWords(length);
  return seconds > 0 ? `in ${words}` : `${words} ago`;
}

/**
 * How long something took or takes: "12 s", "3 min", "1 h 20 min".
 * @param {number} seconds
 */
export function lengthInWords(seconds) {
  if (seconds < MINUTE) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < DAY) {
    const hours = Math.floor(seconds / HOUR);
    const minutes = Math.floor((seconds % HOUR) / MINUTE);
    return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`;
  }
  const days = Math.round(seconds / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}
