// Fixed sentences and word lists. Code knows the keys below; the words lie in phrases/<language>.yaml and may be replaced
// per tenant. Phrases are words, never patterns: whoever writes them needs no regular expressions.
import type { ApologyReason, ErrorCode } from '../workflows/domain/failures.js';
import { DESK_SENTENCES, type DeskSentenceKey } from './desk-phrases.js';
import { OWNER_LISTS, OWNER_SENTENCES, type OwnerSentenceKey } from './owner-phrases.js';

interface Placeholders {
  /** Stand in the sentence always. */
  required: readonly string[];
  /** Stand only inside a `[part]` that is left out when the value is absent. */
  optional: readonly string[];
}

const PLAIN = { required: [], optional: [] } as const;

type ReplyKey =
  | 'acknowledgement'
  | 'waitingForOwner'
  | 'alreadyBeingChecked'
  | 'alreadyDone'
  | 'notApproved'
  | 'approvalExpired'
  | 'missingArguments'
  | 'modelCapReached'
  | 'privateAccount'
  | 'transactionalSupport'
  | 'slashRefused'
  | 'pausedByHuman'
  | 'currentDate'
  | 'unknownOutcome'
  | 'unknownHappened'
  | 'unknownNotHappened'
  | 'tooManyApprovals'
  | 'approvalExpiredHandOff'
  | 'confirmRequest'
  | 'notConfirmed'
  | 'confirmExpired';

/** Every sentence that code may ask for, with the values it gives. */
export const SENTENCES = {
  /** A run has been stored and takes longer than the acknowledgement deadline. */
  acknowledgement: PLAIN,
  /** An owner has been asked; the REF is what the customer can mention. */
  waitingForOwner: { required: [], optional: ['ref'] },
  /** The same request is open (spec A6). */
  alreadyBeingChecked: PLAIN,
  /** The same request has succeeded lately: is another one meant? */
  alreadyDone: { required: [], optional: ['summary'] },
  notApproved: { required: [], optional: ['reason'] },
  approvalExpired: PLAIN,
  /** `missing` is a list in words, made from the schema's titles. */
  missingArguments: { required: ['missing'], optional: [] },
  modelCapReached: PLAIN,
  privateAccount: PLAIN,
  transactionalSupport: PLAIN,
  slashRefused: PLAIN,
  pausedByHuman: PLAIN,
  currentDate: { required: ['date', 'time'], optional: [] },
  /** An effect may have happened, and a person looks into it. Neither done nor failed may be said. */
  unknownOutcome: PLAIN,
  /** A person has found out that it did happen; nothing is known of it but that. */
  unknownHappened: PLAIN,
  unknownNotHappened: PLAIN,
  /** The owners are not asked any more for this chat just now. */
  tooManyApprovals: PLAIN,
  /** Nobody answered in time, and a person takes over. */
  approvalExpiredHandOff: PLAIN,
  /** Asks the requester for their own yes; `what` is rendered by the runtime from tool and arguments. */
  confirmRequest: { required: ['what'], optional: [] },
  /** The requester said no, or spoke of something else. */
  notConfirmed: PLAIN,
  confirmExpired: PLAIN,

  assistant_unavailable: PLAIN,
  could_not_start: PLAIN,

  TOOL_UNKNOWN: PLAIN,
  TOOL_DISABLED: PLAIN,
  TOOL_NOT_ALLOWED_FOR_ACTOR: PLAIN,
  TOOL_SCHEMA_INVALID: PLAIN,
  TOOL_POLICY_DENIED: PLAIN,
  TOOL_TIMEOUT: PLAIN,
  TOOL_PROVIDER_ERROR: PLAIN,
  TOOL_RESULT_INVALID: PLAIN,
  ASYNC_ENQUEUE_FAILED: PLAIN,
  MCP_SERVER_UNAVAILABLE: PLAIN,
  CONNECTOR_UNSUPPORTED_URL: PLAIN,
  FOLLOWUP_AMBIGUOUS: PLAIN,
  FOLLOWUP_CONTEXT_EXPIRED: PLAIN,

  ...OWNER_SENTENCES,
  ...DESK_SENTENCES,
} as const satisfies Record<
  ReplyKey | ApologyReason | ErrorCode | OwnerSentenceKey | DeskSentenceKey,
  Placeholders
>;

export type SentenceKey = keyof typeof SENTENCES;

export const PHRASE_LISTS = [
  /** Words by which a sentence asks for something: "can I", "I would like". */
  'requestForms',
  /** Words by which a sentence asks a question: "what", "is there". Weaker than a request: talk is full of questions. */
  'questionForms',
  /** Verbs that make a sentence a request when it begins with them, greetings and the like left out: "show", "cancel". */
  'commandStarts',
  /** The same for languages whose verb comes last. */
  'commandEnds',
  /** Tells of feelings, opinions, memories, or of the assistant itself: the sentence is talk, whatever words it holds. */
  'talkForms',
  /** Verbs for work on words that needs no tool, where a request begins with them: "explain", "rewrite", "translate". */
  'textWork',
  /** Words of everyday talk: they stand in every second message and are hardly evidence. */
  'everydayWords',
  /** Say when: weekdays, months, "tomorrow". */
  'dateWords',
  /** Small talk. Counts only when the message is nothing else (`isOnly`): "hi, book 9:00" is a request. */
  'smallTalk',
  /** About this chat itself: "explain this", "do you remember". Keeps a message out of the tool lane wherever it stands. */
  'negative',
  /** Refers to something said before: "what about", "the second one". */
  'followUp',
  /** The speaker's own account: balance, due date, fees. */
  'privateAccount',
  /** A payment, refund or order that went wrong. */
  'transactionalSupport',
  /** Asks for the date or the time of day. Counts only when the message is nothing else, small talk apart (`isOnly`). */
  'currentDate',
  /** A plain yes to a question of ours. Counts only when the message is nothing else. */
  'yes',
  /** A plain no. */
  'no',
  ...OWNER_LISTS,
] as const;

export type PhraseListKey = (typeof PHRASE_LISTS)[number];

/** The sentences and lists of one language. */
export interface PhraseBook {
  /** BCP 47, such as `en`. */
  language: string;
  /** Absent: customers are understood in this language, and answered in the tenant's own. */
  sentences?: Record<SentenceKey, string> | undefined;
  lists: Record<PhraseListKey, string[]>;
}

type RequiredValue<K extends SentenceKey> = (typeof SENTENCES)[K]['required'][number];
type OptionalValue<K extends SentenceKey> = (typeof SENTENCES)[K]['optional'][number];
export type SentenceValues<K extends SentenceKey> = { [P in RequiredValue<K>]: string } & {
  [P in OptionalValue<K>]?: string | undefined;
};
export type ValuesArgument<K extends SentenceKey> =
  Record<never, never> extends SentenceValues<K> ? [values?: SentenceValues<K>] : [values: SentenceValues<K>];

/**
 * A fixed sentence with its values filled in. A `[part in brackets]` is left out when a value in it is absent or empty.
 *
 *     sentence(book, 'notApproved', { reason: 'we are full' })
 */
export function sentence<K extends SentenceKey>(
  book: PhraseBook,
  key: K,
  ...[values]: ValuesArgument<K>
): string {
  const known = new Map<string, unknown>(Object.entries(values ?? {}));
  const fill = (part: string): string =>
    part.replace(PLACEHOLDER, (whole, name: string) => {
      const value = known.get(name);
      return typeof value === 'string' ? value : whole;
    });
  const isComplete = (part: string): boolean =>
    placeholdersOf(part).every((name) => Boolean(known.get(name)));

  if (!book.sentences) throw new Error(`"${book.language}" is only heard: it has lists and no sentences`);
  // Parts are chosen in the template, before any value is in it: a value may hold brackets or braces of its own.
  return book.sentences[key]
    .split(OPTIONAL_PART)
    .map((part, index) => (index % 2 === 0 || isComplete(part) ? fill(part) : ''))
    .join('');
}

const PLACEHOLDER = /\{(\w+)\}/g;
const OPTIONAL_PART = /\[([^[\]]*)\]/;

function placeholdersOf(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].map((match) => match[1] ?? '');
}

/** Says what is wrong with a sentence of the phrase files, or nothing. */
export function sentenceProblem(key: SentenceKey, template: string): string | undefined {
  const { required, optional }: Placeholders = SENTENCES[key];
  const parts = template.split(OPTIONAL_PART);
  const inside = new Set(parts.filter((_, index) => index % 2 === 1).flatMap(placeholdersOf));
  const outside = new Set(parts.filter((_, index) => index % 2 === 0).flatMap(placeholdersOf));

  if (/[[\]{}]/.test(template.replace(PLACEHOLDER, '').replace(/\[[^[\]]*\]/g, ''))) {
    return 'a bracket or brace stands alone';
  }
  const foreign = [...inside, ...outside].find(
    (name) => !required.includes(name) && !optional.includes(name),
  );
  if (foreign !== undefined) return `{${foreign}} is not a value of this sentence`;
  const bare = [...outside].find((name) => optional.includes(name));
  if (bare !== undefined) return `{${bare}} may be absent, and stands outside of [brackets]`;
  const missing = required.find((name) => !outside.has(name));
  if (missing !== undefined) return `{${missing}} is missing`;
  return undefined;
}

/** The list of this key in all languages of the tenant: customers mix them, and a gate must hear each. */
export function phrasesOf(phrases: Record<string, PhraseBook>, key: PhraseListKey): string[] {
  return Object.values(phrases).flatMap((book) => book.lists[key]);
}

/**
 * The words of a text as phrases are compared: NFKC, lower case, without diacritics and apostrophes. Turkish İ, I and ı
 * all become `i`, because people type either on either keyboard.
 */
export function wordsOf(text: string): string[] {
  const folded = text
    .normalize('NFKC')
    .replace(/[İIı]/g, 'i')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\p{M}'’ʼ`´]/gu, '');
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The first phrase that stands in the text as whole words, or nothing. */
export function firstMatch(text: string, phrases: readonly string[]): string | undefined {
  const words = ` ${wordsOf(text).join(' ')} `;
  return phrases.find((phrase) => {
    const wanted = wordsOf(phrase).join(' ');
    return wanted !== '' && words.includes(` ${wanted} `);
  });
}

/** Whether any of the phrases stands in the text as whole words, whatever the case and the accents. */
export function matchesAny(text: string, phrases: readonly string[]): boolean {
  return firstMatch(text, phrases) !== undefined;
}

/** Whether the text consists of such phrases and of nothing else: "ok, thanks!" does, "ok, book it" does not. */
export function isOnly(text: string, phrases: readonly string[]): boolean {
  const words = wordsOf(text);
  const wanted = phrases.map(wordsOf).filter((phrase) => phrase.length > 0);
  const reachable = new Set([0]);
  for (const start of words.keys()) {
    if (!reachable.has(start)) continue;
    for (const phrase of wanted) {
      if (phrase.every((word, offset) => words[start + offset] === word))
        reachable.add(start + phrase.length);
    }
  }
  return words.length > 0 && reachable.has(words.length);
}
