// What an owner's message commands, by words of the phrase files and codes, never by a model. Pure. Strict where something
// would be done: a yes is a yes only where nothing else stands beside it, and a question decides nothing.
import {
  isOnly,
  matchesAny,
  phrasesOf,
  wordsOf,
  type PhraseBook,
  type PhraseListKey,
} from '../../config/phrases.js';
import { refsIn, type FoundRef } from '../../workflows/domain/approval.js';
import type { Pair } from '../approvals/read-changes.js';

/** Commands about a chat or the desk; what they mean is somebody else's business. */
export type DeskVerb = 'pause' | 'resume' | 'status' | 'take' | 'release';

export type OwnerCommand =
  /** `isFirm`: said in words that are no mere "ok" to whatever was said last. */
  | { kind: 'approve'; ref?: string; isFirm: boolean }
  /** `isPlain`: a "no" that may as well begin a sentence, or answer something else. */
  | { kind: 'reject'; ref?: string; reason?: string; isPlain: boolean }
  /** `pairs` absent: what is to be changed can't be read. */
  | { kind: 'edit'; ref?: string; pairs?: Pair[] }
  | { kind: 'list' }
  | { kind: 'help' }
  /** `part` counts from 1. */
  | { kind: 'show'; ref?: string; part: number }
  | { kind: 'happened' | 'notHappened'; ref?: string }
  | { kind: 'desk'; verb: DeskVerb; ref?: string; rest: string }
  /** Several codes where one can be meant. */
  | { kind: 'several' }
  /** Speaks of a request, and says nothing that is certain. */
  | { kind: 'unclear'; ref?: string }
  | { kind: 'unknown' };

type Verb =
  | 'approve'
  | 'reject'
  | 'edit'
  | 'list'
  | 'show'
  | 'happened'
  | 'notHappened'
  | 'help'
  | DeskVerb
  | 'yes'
  | 'no';

const LIST_OF_VERB: Record<Verb, PhraseListKey> = {
  reject: 'ownerReject',
  no: 'no',
  notHappened: 'ownerNotHappened',
  help: 'ownerHelp',
  list: 'ownerList',
  show: 'ownerShow',
  status: 'ownerStatus',
  pause: 'ownerPause',
  resume: 'ownerResume',
  take: 'ownerTake',
  release: 'ownerRelease',
  edit: 'ownerEdit',
  happened: 'ownerHappened',
  yes: 'yes',
  approve: 'ownerApprove',
};

/** Where phrases of two lists are equally long, the earlier list counts: no before yes, talk before command. */
const VERBS = Object.keys(LIST_OF_VERB).filter((verb): verb is Verb => verb in LIST_OF_VERB);

/** Languages mark a yes and a no with the same two thumbs. */
const THUMB_UP = '👍';
const THUMB_DOWN = '👎';

/** Yes or no by a thumb, whatever its skin; undefined for any other sign. */
export function decisionOfThumb(sign: string): 'approve' | 'reject' | undefined {
  const bare = sign.trim().replace(/\p{Emoji_Modifier}|\uFE0F/gu, '');
  if (bare === THUMB_UP) return 'approve';
  return bare === THUMB_DOWN ? 'reject' : undefined;
}

/**
 * Reads a message. `isKnown` tells whether a code exists that may as well be a word ("k7q4f" is one for certain, "early" is
 * not).
 *
 *     parseCommand('yes k7q4f', phrases, () => false)   // { kind: 'approve', ref: 'K-7Q4F', isFirm: true }
 */
export function parseCommand(
  text: string,
  phrases: Record<string, PhraseBook>,
  isKnown: (ref: string) => boolean,
): OwnerCommand {
  const thumb = decisionOfThumb(text);
  if (thumb === 'approve') return { kind: 'approve', isFirm: false };
  if (thumb === 'reject') return { kind: 'reject', isPlain: true };
  const refs = refsIn(text).filter(({ ref, isCertain }) => isCertain || isKnown(ref));
  const message = new Message(text, refs, phrases);
  return message.read();
}

interface Token {
  word: string;
  start: number;
  end: number;
}

class Message {
  readonly #text: string;
  readonly #phrases: Record<string, PhraseBook>;
  readonly #refs: FoundRef[];

  constructor(text: string, refs: FoundRef[], phrases: Record<string, PhraseBook>) {
    this.#text = text;
    this.#refs = refs;
    this.#phrases = phrases;
  }

  read(): OwnerCommand {
    // The first code is the one that is meant; a later one may stand in a reason.
    const [first] = this.#refs;
    const ref = first && { ref: first.ref };
    const rest = first ? withoutRefs(this.#text, [first]) : this.#text;
    const verb = this.#verbOf(rest);
    if (!verb) {
      if (!ref) return { kind: 'unknown' };
      return wordsOf(rest).length === 0 ? { kind: 'show', ...ref, part: 1 } : { kind: 'unclear', ...ref };
    }
    const after = rest.slice(verb.end);
    // Only a reason may hold a question.
    const isAsked = QUESTION.test(rest.slice(0, verb.end) + beforeReason(after));
    switch (verb.verb) {
      case 'approve':
      case 'yes':
        return this.#readYes(verb.verb);
      case 'reject':
        return isAsked ? this.#unclear() : { kind: 'reject', ...ref, ...reasonOf(after), isPlain: false };
      case 'no':
        if (isAsked) return this.#unclear();
        // "No problem, approve it": whoever says both has to say it again.
        if (this.#has(after, ['approve', 'yes'])) return this.#unclear();
        return { kind: 'reject', ...ref, ...reasonOf(after), isPlain: true };
      case 'edit': {
        const pairs = pairsOf(after);
        if (pairs === undefined && !ref && wordsOf(after).length > 0) return { kind: 'unknown' };
        return { kind: 'edit', ...ref, ...(pairs && { pairs }) };
      }
      case 'show': {
        const part = /^\W*(\d{1,3})?\W*$/u.exec(after);
        if (!part) return this.#unclear();
        return { kind: 'show', ...ref, part: Math.max(1, Number(part[1] ?? 1)) };
      }
      case 'happened':
      case 'notHappened':
        if (QUESTION.test(this.#text)) return this.#unclear();
        return this.#isAlone(rest, [verb.verb]) ? { kind: verb.verb, ...ref } : this.#unclear();
      case 'list':
      case 'help':
        return this.#isAlone(rest, [verb.verb]) ? { kind: verb.verb } : this.#unclear();
      default:
        return { kind: 'desk', verb: verb.verb, ...ref, rest: after.trim() };
    }
  }

  #readYes(verb: 'approve' | 'yes'): OwnerCommand {
    const words = withoutRefs(this.#text, this.#refs);
    if (QUESTION.test(words)) return this.#unclear(verb);
    if (!this.#isAlone(words, ['approve', 'yes']) || this.#has(words, ['reject', 'no']))
      return this.#unclear(verb);
    const refs = new Set(this.#refs.map(({ ref }) => ref));
    if (refs.size > 1) return { kind: 'several' };
    const [ref] = refs;
    return { kind: 'approve', ...(ref !== undefined && { ref }), isFirm: this.#isAlone(words, ['approve']) };
  }

  /** Something about a request; without a code it may as well be about anything else, unless the word is plain. */
  #unclear(verb?: 'approve' | 'yes'): OwnerCommand {
    const [first] = this.#refs;
    if (first) return { kind: 'unclear', ref: first.ref };
    return verb === 'approve' ? { kind: 'unclear' } : { kind: 'unknown' };
  }

  #list(verb: Verb): string[] {
    return phrasesOf(this.#phrases, LIST_OF_VERB[verb]);
  }

  #has(text: string, verbs: readonly Verb[]): boolean {
    return verbs.some((verb) => matchesAny(text, this.#list(verb)));
  }

  #isAlone(text: string, verbs: readonly Verb[]): boolean {
    const polite = phrasesOf(this.#phrases, 'ownerPolite');
    return isOnly(text, [...verbs.flatMap((verb) => this.#list(verb)), ...polite]);
  }

  /** The longest phrase of command at the beginning, greetings and the like left out; `end` is where it ends in the text. */
  #verbOf(text: string): { verb: Verb; end: number } | undefined {
    let tokens = tokensOf(text);
    const polite = phrasesOf(this.#phrases, 'ownerPolite').map(wordsOf);
    for (;;) {
      const found = VERBS.flatMap((verb) => {
        const length = longestAtStart(tokens, this.#list(verb).map(wordsOf));
        return length > 0 ? [{ verb, length }] : [];
      }).sort((one, other) => other.length - one.length)[0];
      if (found) return { verb: found.verb, end: tokens[found.length - 1]?.end ?? 0 };
      const skipped = longestAtStart(tokens, polite);
      if (skipped === 0) return undefined;
      tokens = tokens.slice(skipped);
    }
  }
}

/** How many tokens the longest of the phrases takes that the tokens begin with; 0: none. */
function longestAtStart(tokens: readonly Token[], phrases: readonly string[][]): number {
  const lengths = phrases
    .filter((words) => words.length > 0 && words.every((word, index) => tokens[index]?.word === word))
    .map((words) => words.length);
  return Math.max(0, ...lengths);
}

/** Words as phrases are compared, each with its place in the text. */
function tokensOf(text: string): Token[] {
  return [...text.matchAll(/[\p{L}\p{N}\p{M}'’ʼ`´]+/gu)].flatMap(({ 0: raw, index }) => {
    const word = wordsOf(raw).join(' ');
    return word === '' ? [] : [{ word, start: index, end: index + raw.length }];
  });
}

function withoutRefs(text: string, refs: readonly FoundRef[]): string {
  return refs.reduce(
    (left, { start, end }) => left.slice(0, start) + ' '.repeat(end - start) + left.slice(end),
    text,
  );
}

/** Question marks of all scripts in use, upside down and as signs too. */
const QUESTION =
  /[?¿‽\u037E\u055E\u061F\u1367\u2047-\u2049\u2753\u2754\u2CFA\u2E2E\uA60F\uA6F7\uFE16\uFE56\uFF1F]/u;

/** What stands between a no and the first word of its reason. */
function beforeReason(after: string): string {
  return /^[^\p{L}\p{N}]*/u.exec(after)?.[0] ?? '';
}

function reasonOf(after: string): { reason?: string } {
  const reason = after
    .replace(/^[\s\p{P}]+/u, '')
    .replace(/\s+$/u, '')
    .replace(/ {2,}/g, ' ');
  return reason === '' ? {} : { reason };
}

/** `name=value`, the value in quotes of any kind where it holds spaces. */
const PAIR =
  /\s*([\p{L}_][\p{L}\p{N}_-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|[“„«”]([^“”„«»]*)[”“»]|‘([^‘’]*)’|([^\s"'“„«‘=,;][^\s=,;]*))[\s,;]*/uy;

/** Undefined: something stands there that is no pair. */
function pairsOf(text: string): Pair[] | undefined {
  const pairs: Pair[] = [];
  PAIR.lastIndex = /^[\s\p{P}]*/u.exec(text)?.[0].length ?? 0;
  const end = text.trimEnd().length;
  while (PAIR.lastIndex < end) {
    const match = PAIR.exec(text);
    if (!match) return undefined;
    const [, name = '', ...values] = match;
    pairs.push([name, values.find((value) => value !== undefined) ?? '']);
  }
  return pairs.length > 0 ? pairs : undefined;
}
