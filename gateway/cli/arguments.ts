// How values on the command line are read: a mistake is said with what would have been right.
import { InvalidArgumentError } from 'commander';
import { DateTime } from 'luxon';
import { refProblem } from '../../workflows/domain/approval.js';

/** As people type it: `k7q4f` is K-7Q4F. */
export function readRef(text: string): string {
  const typed = text.trim().toUpperCase();
  const ref = /^[A-Z][A-Z0-9]{4}$/.test(typed) ? `${typed.slice(0, 1)}-${typed.slice(1)}` : typed;
  const problem = refProblem(ref);
  if (problem !== undefined) throw new InvalidArgumentError(`${problem}.`);
  return ref;
}

export function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 100_000) {
    throw new InvalidArgumentError('A whole number from 1 to 100000.');
  }
  return count;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function readId(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('An id as the lists show it.');
  return text.toLowerCase();
}

/** ISO 8601. A date is its midnight, and a time without an offset is one, in this zone. */
export function readTime(text: string, timeZone: string): Date | undefined {
  const time = DateTime.fromISO(text, { zone: timeZone });
  return time.isValid ? time.toJSDate() : undefined;
}

/** `time=11:00`: a name and the text of its value, which may hold more equals signs. */
export function readPair(
  text: string,
  before: readonly (readonly [string, string])[] = [],
): [string, string][] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('A name and its value, such as time=11:00.');
  return [
    ...before.map(([name, value]): [string, string] => [name, value]),
    [text.slice(0, at).trim(), text.slice(at + 1)],
  ];
}
