// Numbers that carry their own check digits: payment cards (ISO/IEC 7812) and bank accounts (ISO 13616).
import { countrySpecs, isValidIBAN } from 'ibantools';
import type { CardNumbers } from '../../config/configuration.js';
import type { Finder, Span } from './span.js';

/** In one piece or in the groups that are printed on cards; not a part of a longer number, of a UUID or of a phone number. */
const CARD =
  /(?<![\p{L}\p{N}_+]|\d[.,-])(?:\d{13,19}|\d{4}([ \u00a0-])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ \u00a0-])\d{6}\2\d{4,5})(?![\p{L}\p{N}_]|[.,-]\d)/gu;

/** Whether these digits are a card number of a known issuer. */
export type IsCardNumber = (digits: string) => boolean;

export function createCardCheck(cards: Readonly<Record<string, CardNumbers>>): IsCardNumber {
  const issuers = Object.values(cards).flatMap(({ ranges, lengths }) =>
    ranges.map((range) => {
      const [from = '', to = from] = range.split('-');
      return { from: Number(from), to: Number(to), digits: from.length, lengths: new Set(lengths) };
    }),
  );
  return (digits) =>
    issuers.some(({ from, to, digits: count, lengths }) => {
      const first = Number(digits.slice(0, count));
      return lengths.has(digits.length) && first >= from && first <= to;
    }) && hasLuhnDigit(digits);
}

/** Every second digit from the right counts double, as the sum of its digits; together they are a multiple of ten. */
function hasLuhnDigit(digits: string): boolean {
  const values = [...digits].reverse().map((digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return value > 9 ? value - 9 : value;
  });
  return values.reduce((sum, value) => sum + value, 0) % 10 === 0;
}

export function createCardFinder(isCardNumber: IsCardNumber): Finder {
  return (text) =>
    findAll(text, CARD, ({ index, 0: match }) =>
      isCardNumber(match.replace(/\D/g, ''))
        ? { rule: 'card', start: index, end: index + match.length }
        : undefined,
    );
}

const IBAN = /(?<![\p{L}\p{N}_])[A-Z]{2}\d{2}(?:[ \u00a0-]?[A-Z0-9]){11,30}/giu;

/** Bank account numbers of every country that has them; the words behind one are told apart by the country's length. */
export function findIbans(text: string): Span[] {
  return findAll(text, IBAN, ({ index, 0: match }) => {
    const country = countrySpecs[match.slice(0, 2).toUpperCase()];
    const end = index + lengthWith(match, country?.chars ?? 0);
    const account = text
      .slice(index, end)
      .replace(/[^A-Za-z0-9]/g, '')
      .toUpperCase();
    if (!isValidIBAN(account) || /^[\p{L}\p{N}]/u.test(text.slice(end, end + 1))) return undefined;
    return { rule: 'iban', start: index, end };
  });
}

/** How much of the text holds this many letters and digits. */
function lengthWith(text: string, count: number): number {
  let seen = 0;
  for (let at = 0; at < text.length; at++) {
    if (/[A-Za-z0-9]/.test(text[at] ?? '')) seen++;
    if (seen === count) return at + 1;
  }
  return text.length;
}

/** Matches that a check confirms. Behind one that it refuses the search goes on with the next character. */
function findAll(text: string, form: RegExp, check: (match: RegExpExecArray) => Span | undefined): Span[] {
  const spans: Span[] = [];
  const search = new RegExp(form);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const span = check(match);
    search.lastIndex = span?.end ?? match.index + 1;
    if (span !== undefined) spans.push(span);
  }
  return spans;
}
