// A stretch of text that is to go, and the mark that stands in its place.

export interface Span {
  /** From, inclusive; to, exclusive; in UTF-16 units. */
  start: number;
  end: number;
  /** Name of the rule, as it is shown. */
  rule: string;
}

/** Finds what it knows in a text. Earlier finders name what several have found. */
export type Finder = (text: string) => Span[];

/** What stands where a secret was. */
export function markOf(rule: string): string {
  return `[removed: ${rule}]`;
}

const MARK = /^\[removed: [\p{Ll}\p{N}-]+\]/u;

export function beginsWithMark(text: string): boolean {
  return MARK.test(text);
}

/** Letters and digits on both sides of a place make it the inside of a word. */
export function isInsideWord(text: string, at: number): boolean {
  return isWordCharacter(text[at - 1]) && isWordCharacter(text[at]);
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[A-Za-z0-9]/.test(character);
}

/** Replaces the spans; those that overlap become one under the name of the first finder. */
export function replaceSpans(text: string, found: readonly Span[]): { text: string; rules: string[] } {
  const ranked = found.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start);
  const joined: typeof ranked = [];
  for (const span of ranked) {
    const last = joined.at(-1);
    if (last === undefined || span.start >= last.end) {
      joined.push(span);
      continue;
    }
    last.end = Math.max(last.end, span.end);
    if (span.rank < last.rank) Object.assign(last, { rank: span.rank, rule: span.rule });
  }
  let from = 0;
  const parts = joined.map(({ start, end, rule }) => {
    const part = text.slice(from, start) + markOf(rule);
    from = end;
    return part;
  });
  return { text: parts.join('') + text.slice(from), rules: joined.map(({ rule }) => rule) };
}
