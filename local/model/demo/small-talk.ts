// Greetings, thanks and the like in the languages of `phrases.json`.
import phrases from './phrases.json' with { type: 'json' };

export interface SmallTalk {
  intent: string;
  answer: string;
}

/** Someone's name, an "everyone", a "so much": more words than these make a message about something. */
const EXTRA_WORDS = 2;

interface Saying extends SmallTalk {
  says: string;
}

/** Every phrase with its answer, the longest first so that "good night" isn't read as "good". */
const SAYINGS: Saying[] = phrases.smallTalk
  .flatMap(({ intents }) =>
    Object.entries(intents).flatMap(([intent, { says, answer }]) =>
      says.map((phrase) => ({ intent, answer, says: plain(phrase) })),
    ),
  )
  .sort((one, other) => other.says.length - one.says.length);

/**
 * What kind of small talk a message is, or undefined. Of several in one message ("Hi, how are you?") the last
 * counts: it is the one that expects an answer.
 */
export function smallTalkIn(text: string): SmallTalk | undefined {
  const found: Saying[] = [];
  let rest = ` ${plain(text)} `;
  for (const saying of SAYINGS) {
    const at = rest.indexOf(` ${saying.says} `);
    if (at < 0) continue;
    found.push(saying);
    rest = `${rest.slice(0, at)} ${rest.slice(at + saying.says.length + 1)}`;
  }
  const extra = rest.split(' ').filter((word) => word !== '').length;
  if (found.length === 0 || extra > EXTRA_WORDS) return undefined;
  const message = ` ${plain(text)} `;
  return found.sort(
    (one, other) => message.lastIndexOf(` ${other.says} `) - message.lastIndexOf(` ${one.says} `),
  )[0];
}

/** Lower case letters and digits without marks: people leave accents out, and "what's" is "whats". */
export function plain(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}|['’]/gu, '')
    .replace(/ı/g, 'i')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
