// What the platform itself writes into chats, and what a message without words is called. Patterns are compiled here once, so
// that a mistake in one is told with all others at the start.
import { RE2JS } from 're2js';
import { z } from 'zod';
import { foldedText, SYSTEM_LABELS } from '../system-messages.js';
import { checkedBy, language } from './values.js';

const pattern = z.string().min(4).max(300).check(checkedBy(patternProblem));
const label = z.string().trim().min(1).max(60);

export const systemMessageBook = z.strictObject({
  patterns: z.array(pattern).max(200),
  labels: z.record(z.enum(SYSTEM_LABELS), label),
});

/** By language; a message is tried against all of them. */
export const systemMessages = z
  .record(language, systemMessageBook)
  .check(
    checkedBy((books) =>
      Object.keys(books).length > 0
        ? undefined
        : { wrong: 'names no language', right: 'a file phrases/system.<language>.yaml' },
    ),
  );

function patternProblem(source: string): { wrong: string; right: string } | undefined {
  // Escapes such as \S keep their case; everything else is compared with folded text.
  const plain = source.replace(/\\./g, '');
  if (foldedText(plain) !== plain.trim().replace(/\.$/, '')) {
    return {
      wrong: 'can match nothing: the text is compared in lower case and without accents',
      right: 'the pattern in plain lower case letters, one space between words',
    };
  }
  try {
    if (!RE2JS.compile(source).matches('')) return undefined;
    return {
      wrong: 'matches a message without a word',
      right: 'a pattern that needs at least one character',
    };
  } catch (error) {
    const wrong = error instanceof Error ? error.message : 'does not compile';
    return { wrong, right: 'RE2 syntax: no look-around, no back reference, no repeat above 1000' };
  }
}
