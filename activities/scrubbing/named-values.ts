// Secrets that only their name gives away: members of JSON objects, and `name = value`, `name: value` in text.
import type { Scrubbing } from '../../config/configuration.js';
import { beginsWithMark, type Finder, type Span } from './span.js';

/** How sure a name is that its value is a secret. */
type Verdict = { rule: string; certainty: 'strong' | 'weak' };

export interface Names {
  /** What the name of a member says; undefined: nothing secret. */
  judge(name: string): Verdict | undefined;
}

/** In bits of Shannon entropy: more than five characters that all differ (11.6), or six with a repeat (13.5), can hold. */
const SECRET_BITS = 14;
const WEAK_LENGTH = 10;
const LONGEST_NAME = 64;
const LONGEST_VALUE = 512;

/** Names are compared as words, so that `apiKey`, `API_KEY`, `api-key` and `apikey` are one. */
export function createNames(settings: Scrubbing['names']): Names {
  const byCompact = (names: readonly string[]) =>
    new Map(names.map((name) => [name.replaceAll('_', ''), name.replaceAll('_', '-')]));
  const endings = byCompact(settings.endings);
  const whole = byCompact(settings.whole);
  const weak = byCompact(settings.weak);
  const harmless = byCompact(settings.harmless);
  return {
    judge(name) {
      const words = wordsOf(name);
      const exact = whole.get(words.join(''));
      if (exact !== undefined) return { rule: exact, certainty: 'strong' };
      // The longest ending decides: `page_token` before `token`.
      for (let from = 0; from < words.length; from++) {
        const ending = words.slice(from).join('');
        if (harmless.has(ending)) return undefined;
        const strong = endings.get(ending);
        if (strong !== undefined) return { rule: strong, certainty: 'strong' };
        const hint = weak.get(ending);
        // "key: …" alone is a word of everybody's; an `account_key` isn't.
        if (hint !== undefined && words.length > 1) return { rule: hint, certainty: 'weak' };
      }
      return undefined;
    },
  };
}

function wordsOf(name: string): string[] {
  return name
    .slice(-LONGEST_NAME)
    .normalize('NFC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Whether text under a name of this certainty is a secret; `isProse`: it may as well be a word of a sentence. */
export function isSecretValue(value: string, verdict: Verdict, isProse: boolean): boolean {
  if (isPlaceholder(value) || bitsOf(value) < SECRET_BITS) return false;
  if (verdict.certainty === 'weak') {
    return value.length >= WEAK_LENGTH && !isSlug(value) && !UUID.test(value) && /\p{L}/u.test(value);
  }
  return !(isProse && isSlug(value));
}

const SEPARATOR = /[:=]/g;
const BETWEEN = /[\\"'` \t]/;
const LONGEST_BETWEEN = 5;
const NAME_CHARACTER = /[\p{L}\p{N}_.-]/u;
const VALUE_AFTER = /^[=:>]{0,2}[ \t]{0,4}(\\?["'`])?/;
const VALUE_END = /[\s"'`,;<>&|]/;

/** Finds `name = value` in text. What surrounds the value stays. */
export function createAssignmentFinder(names: Names): Finder {
  return (text) => {
    const spans: Span[] = [];
    let searched = 0;
    for (const { index, 0: separator } of text.matchAll(SEPARATOR)) {
      const name = index < searched ? '' : nameBefore(text, index);
      const verdict = name === '' ? undefined : names.judge(name);
      if (verdict === undefined) continue;
      const { start, value, isQuoted } = valueAt(text, index + 1);
      if (!isSecretValue(value, verdict, separator === ':' && !isQuoted)) continue;
      searched = start + value.length;
      spans.push({ rule: verdict.rule, start, end: searched });
    }
    return spans;
  };
}

/** Read backwards from the separator, so that no text makes it long. */
function nameBefore(text: string, separator: number): string {
  let end = separator;
  while (end > separator - LONGEST_BETWEEN && BETWEEN.test(text[end - 1] ?? '')) end--;
  let start = end;
  while (start > end - LONGEST_NAME && NAME_CHARACTER.test(text[start - 1] ?? '')) start--;
  return text.slice(start, end);
}

function valueAt(text: string, from: number): { start: number; value: string; isQuoted: boolean } {
  const ahead = text.slice(from, from + LONGEST_VALUE);
  const lead = VALUE_AFTER.exec(ahead);
  const rest = ahead.slice(lead?.[0].length ?? 0);
  const start = from + ahead.length - rest.length;
  if (beginsWithMark(rest)) return { start, value: '', isQuoted: false };
  const quote = lead?.[1];
  const close = quote === undefined ? -1 : rest.indexOf(quote);
  if (close !== -1 && !rest.slice(0, close).includes('\n')) {
    return { start, value: rest.slice(0, close), isQuoted: true };
  }
  const end = rest.search(VALUE_END);
  // The full stop belongs to the sentence, the bracket to what stands around.
  const value = (end === -1 ? rest : rest.slice(0, end)).replace(/[.!?)\]}\\]{1,8}$/, '');
  return { start, value, isQuoted: false };
}

/** A variable, a template or a mask: it stands for a value and isn't one. */
function isPlaceholder(value: string): boolean {
  return /^[$%<]|^\{\{|^[*•.]{3}/.test(value);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Words and numbers joined by punctuation: `required`, `choc-chip`, `starters-2027`. No part mixes letters and digits. */
function isSlug(value: string): boolean {
  return value.split(/[^\p{L}\p{N}]+/u).every((part) => /^(?:\p{N}*|\p{Lu}?\p{Ll}*|\p{Lu}*)$/u.test(part));
}

/** Shannon entropy of the whole value. */
function bitsOf(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  const length = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts.values()].reduce((sum, count) => sum + count * Math.log2(length / count), 0);
}
