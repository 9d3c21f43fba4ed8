// A command of the command line inside the test's own process: as main.ts runs it, without the seconds that a process takes.
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommand } from '../../gateway/cli/run.js';

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  /** What it printed, as JSON. */
  json(): ReturnType<JSON['parse']>;
}

export type Variables = Record<string, string | undefined>;

export async function arokoHere(args: string[], variables: Variables): Promise<Ran> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const read = Promise.all([text(out), text(err)]);
  const code = await runCommand({ args, variables, stdout: out, stderr: err });
  out.end();
  err.end();
  const [stdout, stderr] = await read;
  return { code, stdout, stderr, json: () => JSON.parse(stdout) };
}
