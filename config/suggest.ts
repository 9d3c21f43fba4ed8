// "Did you mean": the nearest of some known names, for messages about misspelt keys and values.

/** The known name that is nearest to what was written, or nothing when none is near enough to be a slip. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const [best] = byDistance(written, known);
  // A third of the letters may be wrong: fewer misses real slips, more proposes nonsense.
  return best !== undefined && best.distance <= Math.max(1, Math.floor(written.length / 3))
    ? best.name
    : undefined;
}

/** More names than this nobody reads in one line. */
const LISTED = 20;
const SIMILAR = 5;

/** What would be right instead of an unknown name: the one that was probably meant, else all of them, or the most similar. */
export function rightNames(written: string, known: readonly string[]): string {
  const near = nearest(written, known);
  if (near !== undefined) return `did you mean ${near}?`;
  if (known.length <= LISTED) return `one of ${known.join(', ')}`;
  const similar = byDistance(written, known).slice(0, SIMILAR);
  return `one of ${known.length} names, the most similar being ${similar.map(({ name }) => name).join(', ')}`;
}

function byDistance(written: string, known: readonly string[]): { name: string; distance: number }[] {
  return known
    .map((name) => ({ name, distance: editDistance(simplified(written), simplified(name)) }))
    .sort((left, right) => left.distance - right.distance);
}

/** `time_zone`, `time-zone` and `timezone` are all meant to be `timeZone`. */
function simplified(name: string): string {
  return name.toLowerCase().replace(/[_\s-]/g, '');
}

/** Levenshtein's distance, one row at a time. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [leftIndex, leftLetter] of [...left].entries()) {
    const next = [leftIndex + 1];
    for (const [rightIndex, rightLetter] of [...right].entries()) {
      const replaced = (row[rightIndex] ?? 0) + (leftLetter === rightLetter ? 0 : 1);
      next.push(Math.min(replaced, (row[rightIndex + 1] ?? 0) + 1, (next[rightIndex] ?? 0) + 1));
    }
    row = next;
  }
  return row[row.length - 1] ?? 0;
}
