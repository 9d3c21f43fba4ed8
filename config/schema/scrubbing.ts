// What the scrubber removes. A pattern is compiled here once, so that a mistake in it is told with all others at the start.
import { RE2JS } from 're2js';
import { z } from 'zod';
import { checkedBy, key, textOfForm } from './values.js';

const token = z.strictObject({
  literals: z.array(z.string().min(1).max(64)).min(1).max(32),
  pattern: z.string().min(1).max(1_000).check(checkedBy(patternProblem)),
  lookBack: z.int().min(1).max(256).optional(),
  window: z.int().min(16).max(4_096).optional(),
});

const name = textOfForm(/^[\p{Ll}\p{N}]+(_[\p{Ll}\p{N}]+)*$/u, 'lower case words with _ between them');
const names = z.array(name).max(200);

const cardNumbers = z.strictObject({
  ranges: z
    .array(textOfForm(/^\d{1,8}(-\d{1,8})?$/, 'first digits as "4" or "51-55", in quotes'))
    .min(1)
    .max(64),
  lengths: z.array(z.int().min(13).max(19)).min(1),
});

export const scrubbing = z.strictObject({
  tokens: z.record(key, token),
  names: z.strictObject({ endings: names, whole: names, weak: names, harmless: names }),
  cards: z.record(key, cardNumbers),
  ibans: z.boolean(),
});

function patternProblem(pattern: string): { wrong: string; right: string } | undefined {
  try {
    if (!RE2JS.compile(pattern).matches('')) return undefined;
    return { wrong: 'matches nothing at all', right: 'a pattern that needs at least one character' };
  } catch (error) {
    const wrong = error instanceof Error ? error.message : 'does not compile';
    return { wrong, right: 'RE2 syntax: no look-around, no back reference, no repeat above 1000' };
  }
}
