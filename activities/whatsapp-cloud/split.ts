// Cuts a text that is longer than one message may be: after a paragraph, else a line, else a sentence, else a word, and only
// where there is none of these between two characters. Nothing is lost: the parts joined are the text.

/** A part that ends earlier than this share of the limit would leave a scrap; the next finer cut is taken instead. */
const LEAST_SHARE = 0.5;

/** Longer than any emoji, and than letters with all the accents that a language sets on them. */
const LOOK_AHEAD = 100;

const words = new Intl.Segmenter(undefined, { granularity: 'word' });
const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Parts of at most `limit` UTF-16 units each. */
export function splitText(text: string, limit: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > limit) {
    const end = cutBefore(rest, limit);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  parts.push(rest);
  return parts;
}

/** Two parts of a text, the second of which is as long as it may be and no longer than `limit`. */
export function splitTail(text: string, limit: number): [string, string] {
  if (text.length <= limit) return ['', text];
  const earliest = text.length - limit;
  const starts = [/\n{2,}/g, /\n/g].flatMap((pattern) => firstEndFrom(text, pattern, earliest));
  const start = starts[0] ?? firstStartFrom(text, earliest);
  return [text.slice(0, start), text.slice(start)];
}

/** Where the first part of a text that is too long ends. */
function cutBefore(text: string, limit: number): number {
  // What follows the limit decides whether a cut there would go through a character: emoji are made of many units.
  const head = text.slice(0, limit + LOOK_AHEAD);
  const least = limit * LEAST_SHARE;
  const candidates = [
    () => lastMatchEnd(head, /\n{2,}/g, limit),
    () => lastMatchEnd(head, /\n/g, limit),
    () => lastStart(sentences, head, limit),
    () => lastStart(words, head, limit),
  ];
  for (const candidate of candidates) {
    const end = candidate();
    if (end >= least) return end;
  }
  const end = lastStart(graphemes, head, limit);
  // A character longer than a whole message: it has to be cut, but never in the middle of a code point.
  return end > 0 ? end : limit - (isHighSurrogate(text.charCodeAt(limit - 1)) ? 1 : 0);
}

function lastMatchEnd(head: string, pattern: RegExp, limit: number): number {
  const starts = [...head.matchAll(pattern)].filter(({ index }) => index < limit);
  const last = starts.at(-1);
  return last ? Math.min(limit, last.index + last[0].length) : 0;
}

/** The last place up to `limit` where a segment begins. */
function lastStart(segmenter: Intl.Segmenter, head: string, limit: number): number {
  let last = 0;
  for (const { index } of segmenter.segment(head)) {
    if (index > limit) break;
    last = index;
  }
  return last;
}

function firstEndFrom(text: string, pattern: RegExp, earliest: number): number[] {
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end >= earliest && end < text.length) return [end];
  }
  return [];
}

function firstStartFrom(text: string, earliest: number): number {
  for (const segmenter of [sentences, words, graphemes]) {
    for (const { index } of segmenter.segment(text)) if (index >= earliest) return index;
  }
  return earliest;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
