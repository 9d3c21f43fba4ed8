// A place in the workflow code, out of a stack that the source map has put right.

export interface Place {
  /** From `workflows/` on. */
  file: string;
  line: number;
}

const FRAME = /\(?((?:\/|[A-Za-z]:[\\/]|file:)[^()]*?[\\/](workflows[\\/][^()]*?)):(\d+):\d+\)?\s*$/;

/** The innermost line of ours; frames of the SDK stand around it. */
export function placeOf(stack: string): Place | undefined {
  for (const frame of stack.split('\n')) {
    const match = FRAME.exec(frame);
    if (!match || /[\\/]node_modules[\\/]/.test(match[1] ?? '')) continue;
    return { file: (match[2] ?? '').replaceAll('\\', '/'), line: Number(match[3]) };
  }
  return undefined;
}

export function placeInWords(place: Place): string {
  return `${place.file}:${place.line}`;
}
