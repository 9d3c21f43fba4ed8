// Words as the demo compares them: lower case, without endings, without those that carry no meaning of their own.

/** Words of grammar and courtesy, and the words that tool descriptions are full of. */
const EMPTY_WORDS = new Set(
  `a an the this that these those it its is are was were be been am do does did have has had i me my mine we us our
   you your yours he she they them his her their and or but if so of in on at to for from by with about as into than
   then there here can could would will shall should may might must please just like want need get got let us some
   any something anything one what which who when where why how yes no not ok okay hi hello hey thanks thank also
   too very really now up out via per each all both give given gives tell use used uses using return returns value
   values optional required customer customers user users tool tools call calls way e.g etc whether only such`.split(
    /\s+/,
  ),
);

/** Long enough to still tell words apart after an ending was cut off. */
const SHORTEST_STEM = 3;

const ENDINGS = [
  'abilities',
  'ability',
  'ations',
  'ation',
  'ments',
  'ment',
  'ings',
  'ing',
  'able',
  'ies',
  'ed',
  'ly',
];

/** The words of a text in order, lower case. `camelCase` and `snake_case` names fall apart into their words. */
export function wordsOf(text: string): string[] {
  return text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Words that say what a text is about. */
export function meaningfulWords(text: string): string[] {
  return wordsOf(text).filter((word) => !EMPTY_WORDS.has(word) && !/^\d+$/.test(word));
}

/** A word without its ending, so that an act and its name meet ("reserve", "reservation"). */
export function stem(word: string): string {
  const singular = /(?:ss|us|is)$/.test(word) ? word : word.replace(/(?<=s|x|z|ch|sh)es$|s$/, '');
  const ending = ENDINGS.find(
    (end) => singular.endsWith(end) && singular.length - end.length >= SHORTEST_STEM,
  );
  const cut = ending ? singular.slice(0, -ending.length) : singular;
  const single = cut.replace(/([b-df-hj-np-tv-z])\1$/, '$1');
  return single.length > SHORTEST_STEM ? single.replace(/[ey]$/, '') : single;
}

export function stems(text: string): Set<string> {
  return new Set(meaningfulWords(text).map(stem));
}

/** `freeSlots`, `free_slots` → "free slots". */
export function humanLabel(name: string): string {
  return wordsOf(name).join(' ');
}

/** "a", "a and b", "a, b and c". */
export function joinList(items: string[], last: 'and' | 'or' = 'and'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1) ?? ''}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
