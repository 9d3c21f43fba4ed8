// Runs from the command line: which ended badly, and the whole story of one.
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Command } from 'commander';
import { appendAudit } from '../../../prisma/functions.js';
import { listHistories } from '../../../prisma/stores/run-histories.js';
import { findSubject } from '../../../prisma/stores/views/run-keys.js';
import { recordOfTurn, type RunRecord } from '../../../prisma/stores/views/run-record.js';
import { listRunCodes, turnsWithoutRun, type RunCodes } from '../../../prisma/stores/views/runs.js';
import { conversationWorkflowId, toolRunWorkflowId } from '../../../workflows/domain/ids.js';
import { badEndsQuery } from '../../history-keeper.js';
import { readCount, readTime } from '../arguments.js';
import type { CliDeps } from '../deps.js';
import { ago, inWords, type Print } from '../output.js';
import { CommandProblem } from '../problem.js';
import { linkTo, type TemporalSide } from '../run-head.js';
import { printStory } from '../run-story.js';

const LIMIT = 50;
/** Of Temporal's list of what ended badly. */
const BAD_ENDS_AT_MOST = 1_000;

interface ListOptions {
  failed?: true;
  since?: string;
  state?: string;
  chat?: string;
  limit: number;
}

export function addRunCommands(program: Command, deps: CliDeps): void {
  program
    .command('runs')
    .description('what needed a tool: each run with its state, the newest first')
    .option('--failed', 'only what ended badly: failed, with an unknown outcome, or terminated in Temporal')
    .option('--since <time>', 'started since: 2h, 3d, or a date or time (ISO 8601)')
    .option('--state <state>', 'only runs in this state')
    .option('--chat <id>', 'only runs of this chat')
    .option('--limit <n>', 'how many at most', readCount, LIMIT)
    .action((options: ListOptions) => list(deps, options));
  program
    .command('run')
    .description('the story of one run, from what was asked to what was said')
    .argument('<id>', 'the id of the run, of its workflow or of a message of it, or a REF')
    .option('--show-content', 'also what people and models wrote, and what errors said')
    .action((id: string, options: { showContent?: true }) => tell(deps, id, options));
}

async function list(deps: CliDeps, options: ListOptions): Promise<void> {
  const now = new Date();
  const since = options.since === undefined ? undefined : readSince(deps, options.since, now);
  const tenantId = await deps.tenantId();
  const bad = options.failed ? await badEnds(deps, { tenantId, since }) : undefined;
  const { state, chat: chatId, limit } = options;
  const { runs, histories } = await deps.inTenant(async (tx) => {
    const only = options.failed ? 'failed' : undefined;
    const filter = { only, state, since, chatId, limit, endedBadly: bad?.turnIds } as const;
    const registered = await listRunCodes(tx, filter);
    const early = state === undefined && bad ? await turnsWithoutRun(tx, filter) : [];
    const all = [...registered, ...early]
      .sort((one, other) => other.startedAt.getTime() - one.startedAt.getTime())
      .slice(0, limit);
    const kept = await listHistories(tx, { turnIds: all.map((run) => run.runId) });
    return { runs: all, histories: new Map(kept.map((one) => [one.turnId, one])) };
  });
  const lines = runs.map((run) => ({
    ...run,
    workflow: bad?.statuses.get(toolRunWorkflowId({ turnId: run.runId })),
    keptHistory: histories.get(run.runId)?.keptAt,
    link: linkTo(deps.target().temporal, toolRunWorkflowId({ turnId: run.runId })),
  }));
  const conversations = bad?.conversations ?? [];
  deps.output.answer({ runs: lines, ...(options.failed && { conversations }) }, (print) => {
    if (lines.length === 0) print.line(options.failed ? 'No run has ended badly.' : 'There are no runs.');
    else printRuns(print, lines, now);
    if (conversations.length === 0) return;
    print.line();
    print.line('Conversations that ended badly; the next message starts a new one:');
    print.table(
      ['ENDED', 'STATUS', 'WORKFLOW'],
      conversations.map(({ closedAt, status, workflowId }) => [
        closedAt && ago(closedAt, now),
        status,
        workflowId,
      ]),
    );
  });
}

type Line = RunCodes & { workflow: string | undefined; keptHistory: Date | undefined };

function printRuns(print: Print, lines: Line[], now: Date): void {
  print.table(
    ['STARTED', 'STATE', 'CODE', 'TOOLS', 'TOOK', 'WORKFLOW', 'HISTORY', 'RUN'],
    lines.map((run) => [
      ago(run.startedAt, now),
      run.isUnknown ? 'unknown' : run.state,
      run.code,
      run.tools.join(', ') || undefined,
      inWords((run.closedAt ?? now).getTime() - run.startedAt.getTime()),
      run.workflow,
      run.keptHistory && 'kept',
      run.runId,
    ]),
  );
}

function readSince(deps: CliDeps, text: string, now: Date): Date {
  const span = /^(\d{1,6})\s*(m|min|h|d)$/.exec(text.trim());
  if (span) return new Date(now.getTime() - Number(span[1]) * (SPANS[span[2] ?? ''] ?? 0));
  const time = readTime(text, deps.configuration().business.timeZone);
  if (!time) throw new CommandProblem('--since takes 30m, 2h, 3d, or a date or time in ISO 8601.');
  return time;
}

const SPANS: Readonly<Record<string, number>> = {
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

interface BadEnds {
  turnIds: string[];
  /** By workflow id. */
  statuses: Map<string, string>;
  conversations: { workflowId: string; status: string; closedAt: Date | undefined }[];
}

/** What Temporal lists as ended badly; our rows know most of it, but not what an engineer terminated. */
async function badEnds(
  deps: CliDeps,
  { tenantId, since }: { tenantId: string; since: Date | undefined },
): Promise<BadEnds> {
  const found: BadEnds = { turnIds: [], statuses: new Map(), conversations: [] };
  const prefix = conversationWorkflowId({ tenantId, chatId: '' });
  const runs = toolRunWorkflowId({ turnId: '' });
  try {
    const { client } = await deps.temporal();
    for await (const execution of client.workflow.list({ query: badEndsQuery(since), pageSize: 200 })) {
      const { workflowId, closeTime: closedAt } = execution;
      const status = execution.status.name.toLowerCase().replaceAll('_', ' ');
      if (workflowId.startsWith(prefix)) found.conversations.push({ workflowId, status, closedAt });
      if (workflowId.startsWith(runs)) {
        found.turnIds.push(workflowId.slice(runs.length));
        if (!found.statuses.has(workflowId)) found.statuses.set(workflowId, status);
      }
      if (found.turnIds.length + found.conversations.length >= BAD_ENDS_AT_MOST) break;
    }
  } catch (error) {
    if (!(error instanceof CommandProblem)) throw error;
    deps.output.note(`${error.message} What was only terminated there may be missing below.`);
  }
  return found;
}

async function tell(deps: CliDeps, key: string, options: { showContent?: true }): Promise<void> {
  const subject = await deps.inTenant((tx) => findSubject(tx, key));
  if (!subject) throw new CommandProblem(`Nothing here has the id or REF “${key}”.`);
  if (subject.kind === 'chat') return list(deps, { chat: subject.chatId, limit: LIMIT });
  const record = options.showContent
    ? await withContent(deps, subject.turnId)
    : await deps.inTenant((tx, tenantId) => recordOfTurn({ tx, tenantId }, subject.turnId));
  if (!record) throw new CommandProblem(`Nothing here has the id or REF “${key}”.`);
  const temporal = await temporalSide(deps, record);
  const links = {
    run: record.run ? linkTo(deps.target().temporal, record.workflowId) : undefined,
    conversation: linkTo(deps.target().temporal, record.conversationId),
  };
  deps.output.answer({ ...record, temporal, links }, (print) => {
    printStory(print, record, { temporal, links, isWithContent: options.showContent === true });
  });
}

/** Who reads what people wrote leaves a line in the audit. */
async function withContent(deps: CliDeps, turnId: string): Promise<RunRecord | undefined> {
  return deps.inScope(async (scope) => {
    const record = await recordOfTurn(scope, turnId);
    if (record) {
      const { chatId: stream } = record;
      const facts = { surface: 'cli' };
      await appendAudit(scope.tx, { stream, event: 'content_shown', subjectId: turnId, actor: 'cli', facts });
    }
    return record;
  });
}

async function temporalSide(deps: CliDeps, record: RunRecord): Promise<TemporalSide> {
  if (!record.run) return { state: 'none' };
  try {
    const { client } = await deps.temporal();
    const { status, historyLength } = await client.workflow.getHandle(record.workflowId).describe();
    return { state: 'known', status: status.name.toLowerCase().replaceAll('_', ' '), events: historyLength };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'forgotten' };
    if (error instanceof CommandProblem) return { state: 'away' };
    throw error;
  }
}
