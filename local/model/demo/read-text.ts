// Free text arguments: names, places, titles, codes. Nothing is guessed: what isn't marked by quotes, by a
// leading word or by capital letters is not taken, unless it was just asked for.
import type { Parameter } from './parameters.js';
import { humanLabel, wordsOf } from './words.js';

export interface TextContext {
  text: string;
  /** The text without its dates and times, same length. */
  rest: string;
  asked: Parameter[];
  values: Record<string, unknown>;
}

type Role = 'person' | 'code' | 'origin' | 'destination' | 'query' | 'remark' | 'plain';

/** What a parameter is for, told by the words of its name, then of its description. */
const ROLES: { role: Role; words: RegExp }[] = [
  { role: 'query', words: /\b(?:query|question|search|keywords?|topic)\b/i },
  { role: 'origin', words: /\b(?:from|origin|start|starts|pick up|pickup|departure)\b/i },
  { role: 'destination', words: /\b(?:to|destination|drop off|dropoff|arrival)\b/i },
  { role: 'remark', words: /\b(?:notes?|remarks?|comments?|reason|details?|message)\b/i },
  { role: 'code', words: /\b(?:reference|ref|code|id|number)\b/i },
  { role: 'person', words: /\b(?:name|person|guest|passenger|member|attendee|who)\b/i },
];

const NAME =
  "\\p{Lu}[\\p{L}'’-]*(?:\\s+(?:(?:of|the|de|da|del|di|van|von|bin|and|in)\\s+)*\\p{Lu}[\\p{L}'’-]*)*";
const QUOTED = /["“]([^"”]+)["”]/u;
const CALLED = new RegExp(`\\b(?:named|called|titled)\\s+(${NAME}|\\S+)`, 'u');
const PERSON = new RegExp(
  `\\b(?:my name is|name is|name's|i am|i'm|I am|I'm|My name is|this is|under the name|under|for|in the name of)\\s+(?:the name )?(${NAME})`,
  'u',
);
/** A place runs until the next leading word or the end of the clause. */
const PLACE_END = '(?=\\s+(?:from|to|at|on|for|by|with|please|tomorrow|today|and|via)\\b|\\s{2,}|[,.;!?]|$)';
const ORIGIN = new RegExp(`\\bfrom\\s+(?:the\\s+)?(\\p{L}[\\p{L}\\p{N}'’ -]*?)${PLACE_END}`, 'iu');
const DESTINATION = new RegExp(`\\bto\\s+(?:the\\s+)?(\\p{Lu}[\\p{L}\\p{N}'’ -]*?)${PLACE_END}`, 'u');
/** A word of capitals and digits, with at least one digit. */
const CODE = /(?<![\w-])(?=[A-Z0-9-]*\d)[A-Z0-9][A-Z0-9-]{2,}(?![\w-])/;
const BECAUSE = /\bbecause\s+(.+)$/i;
const PROPER_NAME = new RegExp(NAME, 'gu');

/** Capitalised in English without being anybody's name. */
const NOT_A_NAME = new Set(
  `i i'm ok okay hi hello hey please thanks thank yes no can could would will is are do does what which when where
   monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
   september october november december am pm`.split(/\s+/),
);

/** Answers longer than this say more than the one thing that was asked. */
const LONGEST_ANSWER_WORDS = 8;

export function readText(parameter: Parameter, context: TextContext): string | undefined {
  const role = roleOf(parameter);
  const value =
    byLabel(parameter, context.text) ?? byRole(role, parameter, context) ?? asAnswer(parameter, context);
  return value === undefined || Object.values(context.values).includes(value) ? undefined : value;
}

function roleOf(parameter: Parameter): Role {
  const name = humanLabel(parameter.name);
  const byName = ROLES.find(({ words }) => words.test(name));
  return (byName ?? ROLES.find(({ words }) => words.test(parameter.description)))?.role ?? 'plain';
}

function byRole(role: Role, parameter: Parameter, { text, rest }: TextContext): string | undefined {
  switch (role) {
    case 'query':
      return text.trim();
    case 'origin':
      return ORIGIN.exec(rest)?.[1]?.trim();
    case 'destination':
      return DESTINATION.exec(rest)?.[1]?.trim();
    case 'remark':
      return BECAUSE.exec(text)?.[1]?.trim();
    case 'code':
      return CODE.exec(rest)?.[0] ?? CODE.exec(rest.toUpperCase())?.[0] ?? QUOTED.exec(text)?.[1];
    case 'person':
      return named(PERSON.exec(rest)?.[1]) ?? named(CALLED.exec(rest)?.[1]);
    case 'plain':
      return (
        QUOTED.exec(text)?.[1] ??
        CALLED.exec(rest)?.[1] ??
        (parameter.required ? properName(rest) : undefined)
      );
  }
}

/** "reference: X", "reference is X", "reference X-12". */
function byLabel(parameter: Parameter, text: string): string | undefined {
  const label = wordsOf(parameter.name).map(escaped).join('[ _-]?');
  const marked = new RegExp(`\\b${label}\\s*(?::|=|\\bis\\b)\\s*["“]?([^\\n"”.;,]+)`, 'iu').exec(text)?.[1];
  if (marked !== undefined) return marked.trim();
  return new RegExp(`\\b${label}\\s+(\\S*\\d\\S*?)[.,;!?]?(?:\\s|$)`, 'iu').exec(text)?.[1];
}

function properName(text: string): string | undefined {
  return Array.from(text.matchAll(PROPER_NAME))
    .filter((match) => !startsSentence(text, match.index) || match[0].includes(' '))
    .map((match) => named(match[0]))
    .find((name) => name !== undefined);
}

function startsSentence(text: string, index: number): boolean {
  return /(?:^|[.!?]\s*)$/.test(text.slice(0, index).trimEnd());
}

function named(candidate: string | undefined): string | undefined {
  const words = (candidate ?? '')
    .split(/\s+/)
    .filter((word) => word !== '' && !NOT_A_NAME.has(word.toLowerCase()));
  return words.length > 0 ? words.join(' ') : undefined;
}

/** The whole message, when this parameter alone was asked for or nothing else in it has a meaning. */
function asAnswer(parameter: Parameter, { rest, asked }: TextContext): string | undefined {
  const texts = asked.filter((other) => other.kind === 'text');
  if (texts.length !== 1 || texts[0]?.name !== parameter.name) return undefined;
  // "Dune, three weeks": what is counted answers another question.
  const answer = rest
    .split(/[,;\n]/)
    .filter((clause) => !/^\s*(?:for\s+)?(?:\d+|one|two|three|four|five|six)\b/i.test(clause))
    .join(',')
    .replace(/\b(?:at|on|by|around)\s*(?=[,.]|\s*$)/gi, ' ')
    .replace(/^[\s,.:-]+|[\s,.:!?-]+$/g, '')
    .replace(/^(?:it['’]?s|it is|the|for|please)\s+|\s*,?\s*please$/gi, '')
    .replace(/\s+/g, ' ')
    .trim();
  const words = wordsOf(answer);
  const isAnswer =
    words.length > 0 && words.length <= LONGEST_ANSWER_WORDS && !/^(?:yes|no|ok|okay)$/i.test(answer);
  return isAnswer ? answer : undefined;
}

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
