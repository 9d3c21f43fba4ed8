// Replays one history, read from a file or from standard input, and says in words what came of it. The command line
// (gateway/cli) finds the history and starts this program: only here the worker's library and the bundler are needed.
// Exit code 0: the same; 1: today's code differs or throws; 2: there was nothing to replay.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { Command } from 'commander';
import { readHistory, UnreadableHistoryError } from './read-history.js';
import { createReplayer } from './replayer.js';
import { reportOf } from './words.js';

interface Options {
  workflowId?: string;
  workflows?: string;
  json?: true;
}

const program = new Command('replay')
  .description('Replays one history on the workflow code of this tree')
  .argument('[file]', 'the history as JSON; absent: standard input')
  .option('--workflow-id <id>', 'where the file doesn’t name it')
  .option('--workflows <file>', 'entry of another copy of the workflows; absent: those of this tree')
  .option('--json', 'print JSON for programs')
  .parse();

async function run(file: string | undefined, options: Options): Promise<number> {
  const given = file === undefined ? await text(process.stdin) : await readFile(file, 'utf8');
  const history = readHistory(given, { workflowId: options.workflowId });
  // A replay that fails is an answer, not an error of this program: the SDK's own log would say it a second time.
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } },
  });
  const replayer = await createReplayer(
    options.workflows === undefined ? {} : { workflowsPath: options.workflows },
  );
  const report = reportOf(history, await replayer.replay(history));
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : `${report.words.join('\n')}\n`);
  return report.isSame ? 0 : 1;
}

function inFull(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  process.exitCode = await run(program.args[0], program.opts<Options>());
} catch (error) {
  process.stderr.write(`${error instanceof UnreadableHistoryError ? error.message : inFull(error)}\n`);
  process.exitCode = 2;
}
