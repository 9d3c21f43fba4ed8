// A command of the command line inside the test's own process: as main.ts runs it, without the seconds that a process takes.
import { CommanderError } from 'commander';
import { Writable } from 'node:stream';
import { commandEnvironment } from '../../config/environment.js';
import { createLogger } from '../../config/logger.js';
import { createCliDeps, type GlobalOptions } from '../../gateway/cli/deps.js';
import { createOutput } from '../../gateway/cli/output.js';
import { explained } from '../../gateway/cli/problem.js';
import { addCommands, createProgram } from '../../gateway/cli/program.js';
import type { Ran, Variables } from './cli.js';

export async function arokoHere(args: string[], variables: Variables): Promise<Ran> {
  const [stdout, stderr] = [kept(), kept()];
  const program = createProgram().exitOverride();
  const options = (): GlobalOptions => program.opts<GlobalOptions>();
  const deps = createCliDeps({
    environment: commandEnvironment(variables),
    options,
    output: createOutput({ stdout: stdout.stream, stderr: stderr.stream, isJson: () => !!options().json }),
    logger: createLogger({ process: 'cli', level: 'error' }),
  });
  addCommands(program, deps);
  let code = 0;
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) code = error.exitCode;
    else {
      const said = explained(error);
      code = said.exitCode;
      stderr.stream.write(`${said.message}\n`);
    }
  } finally {
    await deps.close();
  }
  const text = stdout.text();
  return { code, stdout: text, stderr: stderr.text(), json: () => JSON.parse(text) };
}

function kept(): { stream: Writable; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}
