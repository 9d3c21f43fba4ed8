// Messages that the platform writes into a chat as if somebody had said them (spec B3): calls, encryption, groups, payments.
// The structure of a message decides first; this is for those that come as plain text. Patterns and words lie in
// phrases/system.<language>.yaml.
import { RE2JS } from 're2js';

/** Names for messages that have no words of their own. */
export const SYSTEM_LABELS = [
  'image',
  'video',
  'audio',
  'voice',
  'document',
  'sticker',
  'location',
  'contacts',
  'order',
  'form',
  'call',
  'reactionRemoved',
  'edited',
  'revoked',
  'identityChanged',
  'unsupported',
  'empty',
] as const;
export type SystemLabel = (typeof SYSTEM_LABELS)[number];
export type Labels = Readonly<Record<SystemLabel, string>>;

export interface SystemMessageBook {
  /** RE2; each matches a whole message, as `foldedText` makes it. */
  patterns: string[];
  labels: Record<SystemLabel, string>;
}

/** No notice of the platform is longer; what is longer was written by a person. */
const LONGEST = 300;

/** Tells whether a text is one that the platform writes by itself. Time grows with the length of the text only. */
export function createSystemMessageCheck(
  books: Readonly<Record<string, SystemMessageBook>>,
): (text: string) => boolean {
  const patterns = Object.values(books).flatMap((book) => book.patterns);
  if (patterns.length === 0) return () => false;
  const any = RE2JS.compile(`^(?:${patterns.map((one) => `(?:${one})`).join('|')})$`);
  return (text) => text.length <= LONGEST && any.test(foldedText(text));
}

/** The words of a business's own language; another one's where it has none. */
export function labelsFor(books: Readonly<Record<string, SystemMessageBook>>, language: string): Labels {
  const book = books[language] ?? books[language.slice(0, 2)] ?? Object.values(books)[0];
  if (!book) throw new Error('there are no names for messages without words; the loader refuses that');
  return book.labels;
}

/**
 * A text as patterns see it: NFKC, lower case, no accents and no invisible characters, every kind of i as `i`, straight
 * quotes, one space between words, no full stop at the end.
 */
export function foldedText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[İIı]/g, 'i')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[’‘ʼ`´]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '');
}
