// Text of strangers, shown to whoever decides on it: characters that hide or reorder others are made visible.

/** Controls, format characters (bidirectional overrides, zero-width ones), separators of lines, private use, fillers. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\u{115F}\u{1160}\u{3164}\u{FFA0}]/gu;
/** Joins the parts of one emoji, and shows nothing by itself. */
const EMOJI_JOINER = /(?<=\p{Extended_Pictographic}\uFE0F?)\u200D(?=\p{Extended_Pictographic})/gu;

const NAMES: Record<string, string> = { '\n': '↵', '\t': '⇥', '\r': '␍' };

export interface Piece {
  text: string;
  /** Set where the piece stands for a hidden character. */
  codePoint?: string;
}

/** Cuts a text into what can be seen and what can't. */
export function piecesOf(text: string): Piece[] {
  const joiners = new Set([...text.matchAll(EMOJI_JOINER)].map((match) => match.index));
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (joiners.has(match.index)) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    const [character] = match;
    const codePoint = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    pieces.push({ text: NAMES[character] ?? codePoint, codePoint });
    // A line still ends where it ends, after its sign.
    if (character === '\n') pieces.push({ text: '\n' });
    from = match.index + character.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/** Stands before each line but the first: a line of somebody's text must not pass for one of ours. */
export const CONTINUATION = '  │ ';

/** The same in plain text, for channels without markup. Only its first line begins where it is put. */
export function withHiddenShown(text: string): string {
  return marked(text).replaceAll('\n', `\n${CONTINUATION}`);
}

/** The same where it has to stay on one line: an end of a line is its sign. */
export function onOneLine(text: string): string {
  return marked(text).replaceAll('\n', '');
}

function marked(text: string): string {
  return piecesOf(text)
    .map(({ text: shown, codePoint }) => (codePoint === undefined ? shown : `⟦${shown}⟧`))
    .join('');
}
