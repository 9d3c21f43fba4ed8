// What commands print: for people plain tables without lines or colours, for programs (`--json`) one JSON document. Answers
// go to standard output, everything else to standard error.
import Table from 'cli-table3';

export type Cell = string | number | undefined;

export interface Output {
  /** Prints `json` for programs; for people whatever `words` prints. */
  answer(json: unknown, words: (print: Print) => void): void;
  /** A line beside the answer, for people and on standard error. */
  note(line: string): void;
  /** One whole line of an answer that has no end; waits where the reader is slow. */
  write(line: string): Promise<void>;
}

export interface Print {
  line(text?: string): void;
  table(head: string[], rows: Cell[][]): void;
  /** Names and values, one pair a line. */
  pairs(rows: [string, Cell][]): void;
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export function createOutput(streams: {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  isJson: () => boolean;
}): Output {
  const { stdout, stderr, isJson } = streams;
  const print: Print = {
    line: (text = '') => stdout.write(`${text}\n`),
    table: (head, rows) => stdout.write(`${tableOf([head, ...rows])}\n`),
    pairs: (rows) => stdout.write(`${tableOf(rows)}\n`),
  };
  return {
    answer(json, words) {
      if (isJson()) stdout.write(`${JSON.stringify(json, null, 2)}\n`);
      else words(print);
    },
    note(line) {
      if (!isJson()) stderr.write(`${line}\n`);
    },
    async write(line) {
      if (stdout.write(`${line}\n`)) return;
      await new Promise<void>((resolve) => stdout.once('drain', resolve));
    },
  };
}

function tableOf(rows: Cell[][]): string {
  const table = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(row.map((cell) => cell ?? '–'));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const UNITS = [
  { seconds: 86_400, name: 'd' },
  { seconds: 3_600, name: 'h' },
  { seconds: 60, name: 'min' },
  { seconds: 1, name: 's' },
];

/** A length of time by its two largest units: `2 h 5 min`, `40 s`. */
export function inWords(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1_000));
  const parts = UNITS.flatMap(({ seconds, name }) => {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    return count > 0 ? [`${count} ${name}`] : [];
  });
  return parts.slice(0, 2).join(' ') || '0 s';
}

export function ago(at: Date, now: Date): string {
  return `${inWords(now.getTime() - at.getTime())} ago`;
}
