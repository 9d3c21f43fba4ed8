// Cuts a text to a platform's limit without cutting what a reader sees as one character.
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** At most `limit` UTF-16 units, the last of which is an ellipsis where something is missing. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (const { index, segment } of graphemes.segment(text)) {
    if (index + segment.length > limit - 1) break;
    end = index + segment.length;
  }
  return `${text.slice(0, end).trimEnd()}…`;
}
