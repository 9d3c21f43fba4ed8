// One command from its words to its exit code. main.ts hands in what a process has.
import { CommanderError } from 'commander';
import { commandEnvironment } from '../../config/environment.js';
import { createLogger } from '../../config/logger.js';
import { createCliDeps, type CliDeps, type GlobalOptions } from './deps.js';
import { createOutput } from './output.js';
import { explained } from './problem.js';
import { addCommands, createProgram } from './program.js';

export interface CommandLine {
  /** Without the names of node and of the program. */
  args: string[];
  variables: Record<string, string | undefined>;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
}

/** Runs the command and answers the code to end with (problem.ts). Never throws; nothing of it goes on afterwards. */
export async function runCommand({ args, variables, stdout, stderr }: CommandLine): Promise<number> {
  const program = createProgram()
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });
  const options = (): GlobalOptions => program.opts<GlobalOptions>();
  let deps: CliDeps | undefined;
  try {
    const environment = commandEnvironment(variables);
    deps = createCliDeps({
      environment,
      options,
      output: createOutput({ stdout, stderr, isJson: () => options().json === true }),
      logger: createLogger({ process: 'cli', level: environment.logLevel }),
    });
    addCommands(program, deps);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said it already, help included.
    if (error instanceof CommanderError) return error.exitCode;
    const { message, exitCode } = explained(error, placeOf(deps));
    stderr.write(options().json ? `${JSON.stringify({ error: { message, exitCode } })}\n` : `${message}\n`);
    return exitCode;
  } finally {
    await deps?.close();
  }
}

/** Where it looked, without what else an address may hold. */
function placeOf(deps: CliDeps | undefined): { postgres?: string; hint?: string } {
  if (!deps) return {};
  try {
    const { databaseUrl, hint } = deps.target();
    return { postgres: new URL(databaseUrl).host, hint };
  } catch {
    return {};
  }
}
