// Replays a recorded run or conversation on today's code. This side finds the history: in Temporal, else among those that
// are kept, else in a file. The replay itself is a program of the worker's (worker/replay/main), because only there lie
// the library and the bundler; it is started for this one history.
import { WorkflowNotFoundError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Command } from 'commander';
import { spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { readHistory } from '../../../prisma/stores/run-histories.js';
import { findSubject } from '../../../prisma/stores/views/run-keys.js';
import { conversationWorkflowId, toolRunWorkflowId } from '../../../workflows/domain/ids.js';
import type { CliDeps } from '../deps.js';
import { CommandProblem } from '../problem.js';

interface Options {
  kept?: true;
  workflows?: string;
  save?: string;
}

interface Found {
  /** Absent: the file names it. */
  workflowId?: string;
  json: string;
  from: string;
}

/** What the worker's program prints; the rest of it goes through to programs as it is. */
const reportSchema = z.looseObject({ isSame: z.boolean(), words: z.array(z.string()) });

export function addReplayCommand(program: Command, deps: CliDeps): void {
  program
    .command('replay')
    .description('replays a recorded run or conversation on today’s code, and says what differs')
    .argument('<id or file>', 'the id of a run or of its workflow, a REF, or a file with a history')
    .option('--kept', 'the history that we keep, also where Temporal still has its own')
    .option('--save <file>', 'also writes the history to this file')
    .option('--workflows <file>', 'on another checkout’s workflows/index.ts instead of this one’s')
    .addHelpText('after', '\nIt ends with 0 where today’s code does the same, and with 1 where it differs.')
    .action((key: string, options: Options) => replay(deps, key, options));
}

async function replay(deps: CliDeps, key: string, options: Options): Promise<void> {
  const found = (await fromFile(key)) ?? (await findHistory(deps, key, options));
  if (options.save !== undefined) {
    // As it is: the Temporal UI can show it (Import), and it names its workflow itself.
    await writeFile(options.save, found.json);
    deps.output.note(`Saved as ${options.save}.`);
  }
  deps.output.note(`Replaying the history of ${found.workflowId ?? key} (${found.from}) …`);
  const report = await replayed(found, options.workflows);
  deps.output.answer({ from: found.from, ...report }, (print) => {
    for (const line of report.words) print.line(line);
  });
  if (!report.isSame) throw new CommandProblem('Today’s code doesn’t do what this history says.');
}

async function fromFile(path: string): Promise<Found | undefined> {
  const known = await stat(path).catch(() => undefined);
  if (!known?.isFile()) return undefined;
  const bytes = await readFile(path);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return { json: (isPacked ? gunzipSync(bytes) : bytes).toString('utf8'), from: 'from the file' };
}

async function findHistory(deps: CliDeps, key: string, options: Options): Promise<Found> {
  const workflowId = await workflowOf(deps, key);
  const inTemporal = options.kept ? undefined : await fromTemporal(deps, workflowId);
  if (inTemporal !== undefined) return { workflowId, json: inTemporal, from: 'from Temporal' };
  const kept = await deps.inTenant((tx) => readHistory(tx, { workflowId }));
  if (kept !== undefined) return { workflowId, json: kept, from: 'kept by us' };
  throw new CommandProblem(
    `There is no history of ${workflowId}: ${options.kept ? '' : 'Temporal has none (any more), and '}none is kept. ` +
      'Histories are kept of runs that ended badly.',
  );
}

async function workflowOf(deps: CliDeps, key: string): Promise<string> {
  if (/^(tool-run|conversation)\//.test(key)) return key;
  const subject = await deps.inTenant(async (tx, tenantId) => {
    const found = await findSubject(tx, key);
    if (found?.kind !== 'turn') return found && { ...found, tenantId };
    const hasRun = (await tx.toolRun.count({ where: { turnId: found.turnId } })) > 0;
    return hasRun ? found : { kind: 'chat' as const, chatId: found.chatId, tenantId };
  });
  if (!subject) throw new CommandProblem(`“${key}” is no file, and nothing here has that id or REF.`);
  return subject.kind === 'turn' ? toolRunWorkflowId(subject) : conversationWorkflowId(subject);
}

/** Undefined: it isn't there, or nothing answers. */
async function fromTemporal(deps: CliDeps, workflowId: string): Promise<string | undefined> {
  try {
    const { client } = await deps.temporal();
    return historyToJSON(await client.workflow.getHandle(workflowId).fetchHistory());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return undefined;
    if (!(error instanceof CommandProblem)) throw error;
    deps.output.note(error.message);
    return undefined;
  }
}

/** Histories are fetched without the client's own translation of errors: gRPC's 5 means that there is none. */
function isNotFound(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 5;
}

/** The extension differs between the source tree and the build. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const REPLAY = fileURLToPath(new URL(`../../../worker/replay/main${EXTENSION}`, import.meta.url));

async function replayed(
  { workflowId, json }: Found,
  workflows: string | undefined,
): Promise<z.infer<typeof reportSchema>> {
  const child = spawn(
    process.execPath,
    [
      ...(EXTENSION === '.ts' ? ['--import', 'tsx'] : []),
      REPLAY,
      '--json',
      ...(workflowId === undefined ? [] : ['--workflow-id', workflowId]),
      ...(workflows === undefined ? [] : ['--workflows', resolve(workflows)]),
    ],
    { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  // A program that ends before it has read everything says why on its standard error.
  child.stdin.on('error', () => undefined);
  child.stdin.end(json);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const report = stdout === '' ? undefined : reportSchema.safeParse(JSON.parse(stdout));
  if (report?.success) return report.data;
  throw new CommandProblem(stderr.trim() || 'The replay ended without a word.');
}
