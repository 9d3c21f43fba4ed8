declare module 'snowball-stemmers' {
  export interface Stemmer {
    stem(word: string): string;
  }
  export function newStemmer(algorithm: string): Stemmer;
}

declare module 'stopword' {
  export const eng: string[];
  export const tur: string[];
  export const spa: string[];
  export const por: string[];
  export const deu: string[];
  export const fra: string[];
  export const hau: string[];
  export const yor: string[];
}
