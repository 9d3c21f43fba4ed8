// Keeps relative times fresh while a page stays open; the absolute time is always in the title.
import { relativeTime } from './relative-time.js';

function refresh() {
  for (const time of document.querySelectorAll('time[data-relative]')) {
    time.textContent = relativeTime(Date.parse(time.dateTime), Date.now());
  }
}

setInterval(refresh, 15_000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) refresh();
});
