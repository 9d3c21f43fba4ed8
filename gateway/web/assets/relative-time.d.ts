export function relativeTime(atMs: number, nowMs: number): string;
export function lengthInWords(seconds: number): string;
