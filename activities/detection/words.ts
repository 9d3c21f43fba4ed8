// A text as the detector sees it: its words with their stems, and what each is worth as evidence. How telling a word is
// comes from the phrase files, not from the catalogue: over two tools every word would look rare.
import { newStemmer } from 'snowball-stemmers';
import * as stopwords from 'stopword';
import { phrasesOf, wordsOf, type PhraseBook } from '../../config/phrases.js';

/** Languages the libraries know: BCP 47 code → Snowball algorithm, where there is one, and stop word list. */
const LANGUAGES: Record<string, { algorithm?: string; stop: string[] }> = {
  en: { algorithm: 'english', stop: stopwords.eng },
  tr: { algorithm: 'turkish', stop: stopwords.tur },
  es: { algorithm: 'spanish', stop: stopwords.spa },
  pt: { algorithm: 'portuguese', stop: stopwords.por },
  de: { algorithm: 'german', stop: stopwords.deu },
  fr: { algorithm: 'french', stop: stopwords.fra },
  ha: { stop: stopwords.hau },
  yo: { stop: stopwords.yor },
};

export interface Word {
  text: string;
  /** The word itself and its stem in each language; never empty. */
  forms: readonly string[];
  /** 0 for words that only join others, 1 for a word that names something. */
  information: number;
  /** Says when, not what: a weekday, "tomorrow", a number. */
  isValue: boolean;
}

export interface WordReader {
  read(text: string): Word[];
}

const NUMBER = /^\d+\p{L}{0,2}$/u;
/** Stemming is most of the work, and people use few words: remembering them keeps a message far below a millisecond. */
const REMEMBERED = 20_000;

export function createWordReader(input: {
  phrases: Record<string, PhraseBook>;
  /** Worth of a word of everyday talk, between 0 and 1. */
  everydayInformation: number;
}): WordReader {
  const { phrases, everydayInformation } = input;
  const heard = Object.keys(phrases).flatMap((code) => LANGUAGES[code] ?? []);
  const stop = new Set(heard.flatMap(({ stop: words }) => words.flatMap(wordsOf)));
  // A catalogue is written in the languages that the tenant speaks; stemming is slow, so others are compared as they are.
  const stemmers = Object.values(phrases)
    .filter(({ sentences }) => sentences !== undefined)
    .flatMap(({ language }) => LANGUAGES[language]?.algorithm ?? [])
    .map((algorithm) => newStemmer(algorithm));
  const formsOf = (word: string): string[] => [
    ...new Set([word, ...stemmers.map((stemmer) => wordsOf(stemmer.stem(word)).join(''))]),
  ];
  // The words that make a request a request say nothing about what is asked for.
  const asking = [
    ...phrasesOf(phrases, 'requestForms').flatMap(wordsOf),
    ...phrasesOf(phrases, 'questionForms'),
  ];
  for (const word of asking.map(wordsOf).filter((words) => words.length === 1)) stop.add(word.join(''));
  const everyday = new Set(phrasesOf(phrases, 'everydayWords').flatMap(wordsOf).flatMap(formsOf));
  const values = new Set(phrasesOf(phrases, 'dateWords').flatMap(wordsOf).flatMap(formsOf));
  const remembered = new Map<string, Word>();

  return { read: (text) => wordsOf(text).map(wordOf) };

  function wordOf(text: string): Word {
    const seen = remembered.get(text);
    if (seen) return seen;
    const joins = stop.has(text) || text.length === 1 || NUMBER.test(text);
    const forms = joins ? [text] : formsOf(text);
    const isValue = NUMBER.test(text) || forms.some((form) => values.has(form));
    const word = { text, forms, isValue, information: joins || isValue ? 0 : informationOf(forms) };
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(text, word);
    return word;
  }

  function informationOf(forms: readonly string[]): number {
    return forms.some((form) => everyday.has(form)) ? everydayInformation : 1;
  }
}
