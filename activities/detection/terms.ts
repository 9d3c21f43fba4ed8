// Text to terms: words as phrases are compared (config/phrases.ts), without stop words, stemmed per language.
import { newStemmer } from 'snowball-stemmers';
import * as stopwords from 'stopword';
import { wordsOf } from '../../config/phrases.js';

/** Languages both libraries know: BCP 47 code → Snowball algorithm and stop word list. Others go unstemmed. */
const LANGUAGES: Record<string, { algorithm: string; stop: string[] }> = {
  en: { algorithm: 'english', stop: stopwords.eng },
  tr: { algorithm: 'turkish', stop: stopwords.tur },
  es: { algorithm: 'spanish', stop: stopwords.spa },
  pt: { algorithm: 'portuguese', stop: stopwords.por },
  de: { algorithm: 'german', stop: stopwords.deu },
  fr: { algorithm: 'french', stop: stopwords.fra },
};

export type TermReader = (text: string) => string[];

/** Reads terms in all these languages at once: a word is kept as each language stems it, without doubles. */
export function createTermReader(languages: readonly string[]): TermReader {
  const known = languages.flatMap((code) => LANGUAGES[code] ?? []);
  const stop = new Set(known.flatMap((language) => language.stop.flatMap((word) => wordsOf(word))));
  const stemmers = known.map((language) => newStemmer(language.algorithm));
  return (text) =>
    wordsOf(text)
      .filter((word) => !stop.has(word) && word.length > 1)
      .flatMap((word) =>
        stemmers.length === 0 ? [word] : [...new Set(stemmers.map((stemmer) => stemmer.stem(word)))],
      );
}
