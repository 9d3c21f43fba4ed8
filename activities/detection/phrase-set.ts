// Many phrases, looked up fast: read once, compared word by word as config/phrases.ts does.
import { phrasesOf, wordsOf, type PhraseBook, type PhraseListKey } from '../../config/phrases.js';

export interface FoundPhrase {
  phrase: string;
  /** In words. */
  length: number;
}

export interface PhraseSet {
  /** The longest phrase that begins at this word. */
  at(words: readonly string[], position: number): FoundPhrase | undefined;
  /** The first phrase anywhere. */
  find(words: readonly string[]): string | undefined;
  /** The longest phrase that the words end with. */
  endOf(words: readonly string[]): string | undefined;
  /** Whether the words consist of such phrases and of nothing else. */
  covers(words: readonly string[]): boolean;
}

/** The phrases of a list in all languages. */
export function phraseSetOf(phrases: Record<string, PhraseBook>, key: PhraseListKey): PhraseSet {
  const known = new Set(
    phrasesOf(phrases, key)
      .map((phrase) => wordsOf(phrase).join(' '))
      .filter((phrase) => phrase !== ''),
  );
  const longest = Math.max(0, ...[...known].map((phrase) => phrase.split(' ').length));

  /** Every phrase that begins here, the longest first. */
  function* allAt(words: readonly string[], position: number): Generator<FoundPhrase> {
    for (let length = Math.min(longest, words.length - position); length > 0; length--) {
      const phrase = words.slice(position, position + length).join(' ');
      if (known.has(phrase)) yield { phrase, length };
    }
  }

  const at: PhraseSet['at'] = (words, position) => {
    const [first] = allAt(words, position);
    return first;
  };
  return {
    at,
    find(words) {
      for (const position of words.keys()) {
        const found = at(words, position);
        if (found) return found.phrase;
      }
      return undefined;
    },
    endOf(words) {
      for (const start of words.keys()) {
        const found = at(words, start);
        if (found && start + found.length === words.length) return found.phrase;
      }
      return undefined;
    },
    covers(words) {
      const reachable = new Set([0]);
      for (const start of words.keys()) {
        if (!reachable.has(start)) continue;
        for (const { length } of allAt(words, start)) reachable.add(start + length);
      }
      return words.length > 0 && reachable.has(words.length);
    },
  };
}
