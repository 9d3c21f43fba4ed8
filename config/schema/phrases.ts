import { z } from 'zod';
import {
  PHRASE_LISTS,
  SENTENCES,
  sentenceProblem,
  type PhraseListKey,
  type SentenceKey,
} from '../phrases.js';
import { checkedBy, text } from './values.js';

function template(name: SentenceKey): typeof text {
  return text.check(
    checkedBy((value) => {
      const wrong = sentenceProblem(name, value);
      return wrong === undefined ? undefined : { wrong, right: placeholdersInWords(name) };
    }),
  );
}

function placeholdersInWords(name: SentenceKey): string {
  const { required, optional } = SENTENCES[name];
  const parts = [
    ...required.map((value) => `{${value}}, always`),
    ...optional.map((value) => `{${value}}, only inside [brackets]`),
  ];
  return parts.length === 0 ? 'a sentence without {placeholders}' : `a sentence with ${parts.join(' and ')}`;
}

const phrase = z.string().trim().min(1).max(100);

/** A language needs no phrases for a list: its own words may say it otherwise. */
const phraseList = z.array(phrase).max(500).default([]);

const sentenceKeys = Object.keys(SENTENCES).filter((name): name is SentenceKey => name in SENTENCES);

export const phraseBook = z.strictObject({
  /** Absent: the language is heard, and never spoken. */
  sentences: z.strictObject(fromKeys<SentenceKey, typeof text>(sentenceKeys, template)).optional(),
  lists: z.strictObject(fromKeys<PhraseListKey, typeof phraseList>(PHRASE_LISTS, () => phraseList)),
});

/** Makes an object key by key and proves that none was left out. */
function fromKeys<K extends string, V>(keys: readonly K[], value: (key: K) => V): Record<K, V> {
  const made: Partial<Record<K, V>> = {};
  for (const name of keys) made[name] = value(name);
  if (!isComplete(made, keys)) throw new Error('a key was left out');
  return made;
}

function isComplete<K extends string, V>(
  made: Partial<Record<K, V>>,
  keys: readonly K[],
): made is Record<K, V> {
  return keys.every((name) => made[name] !== undefined);
}
