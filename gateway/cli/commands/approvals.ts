// Approvals from the command line. What is asked is shown without the customer's content, unless that is asked for.
import { Option, type Command } from 'commander';
import { appendAudit } from '../../../prisma/functions.js';
import {
  approvalLine,
  approvalLines,
  type ApprovalLine,
} from '../../../prisma/stores/views/without-content.js';
import { listApprovals, type ApprovalView } from '../../../prisma/stores/views/approvals.js';
import {
  APPROVAL_STATES,
  type ApprovalDecision,
  type ApprovalState,
} from '../../../workflows/domain/approval.js';
import {
  createDecisions,
  editInWords,
  inWords as resultInWords,
  type DecisionResult,
  type Decisions,
  type EditResult,
} from '../../decisions.js';
import { readCount, readPair, readRef } from '../arguments.js';
import type { CliDeps } from '../deps.js';
import { contentOf, deadline, printApproval } from '../approval-words.js';
import { ago } from '../output.js';
import { CommandProblem } from '../problem.js';

const LIST_LIMIT = 50;

export function addApprovalCommands(program: Command, deps: CliDeps): void {
  const approvals = program
    .command('approvals')
    .description('what waits for an owner’s yes, and deciding it')
    .helpCommand(false);
  approvals
    .command('list')
    .description('the requests that wait; with --state, others')
    .addOption(new Option('--state <state>', 'which').choices([...APPROVAL_STATES, 'all']).default('open'))
    .option('--limit <n>', 'how many at most', readCount, LIST_LIMIT)
    .action((options: { state: ApprovalState | 'all'; limit: number }) => list(deps, options));
  approvals
    .command('show')
    .description('one request: tool, rule, who decided, what came of it')
    .argument('<ref>', 'its code, such as K-7Q4F', readRef)
    .option('--show-content', 'also the exact arguments and what the customer was told')
    .action((ref: string, options: { showContent?: true }) => show(deps, ref, options));
  decisionCommand(deps, approvals, 'approve', 'says yes: the step is carried out as it was asked for');
  decisionCommand(deps, approvals, 'reject', 'says no: nothing is done, and the customer is told');
  approvals
    .command('edit')
    .description('changes what is asked; it asks again under a new code and needs a yes of its own')
    .argument('<ref>', 'its code, such as K-7Q4F', readRef)
    .argument('<changes...>', 'arguments and their values, such as time=11:00', readPair)
    .requiredOption('--as <owner>', 'the id of the owner who changes it')
    .action((ref: string, pairs: [string, string][], options: { as: string }) =>
      edit(deps, { ref, pairs, ...options }),
    );
}

function decisionCommand(
  deps: CliDeps,
  parent: Command,
  decision: ApprovalDecision,
  description: string,
): void {
  const command = parent
    .command(decision)
    .description(description)
    .argument('<ref>', 'its code, such as K-7Q4F', readRef)
    .requiredOption('--as <owner>', 'the id of the owner who decides');
  if (decision === 'reject') command.option('--reason <text>', 'what the customer is told');
  command.action((ref: string, options: { as: string; reason?: string }) =>
    decide(deps, { ref, decision, ...options }),
  );
}

async function list(
  deps: CliDeps,
  { state, limit }: { state: ApprovalState | 'all'; limit: number },
): Promise<void> {
  const now = new Date();
  const lines = await deps.inTenant((tx) => approvalLines(tx, { state, limit, now }));
  deps.output.answer({ approvals: lines }, (print) => {
    if (lines.length === 0) {
      return print.line(state === 'open' ? 'Nothing waits for a yes.' : 'There are none.');
    }
    print.table(
      ['REF', 'TOOL', 'STATE', 'ASKED', 'EXPIRES', 'RULE', 'CHAT'],
      lines.map((line) => [
        line.ref,
        line.tool,
        line.state,
        ago(line.askedAt, now),
        line.state === 'open' ? deadline(line.expiresAt, now) : undefined,
        line.rule,
        line.chatId,
      ]),
    );
  });
}

async function show(deps: CliDeps, ref: string, { showContent }: { showContent?: true }): Promise<void> {
  const now = new Date();
  const line = await deps.inTenant((tx) => approvalLine(tx, ref));
  if (!line) throw new CommandProblem(`There is no request ${ref}.`);
  const content = showContent && (await withContent(deps, line, now));
  deps.output.answer({ ...line, ...(content && { content: contentOf(content) }) }, (print) =>
    printApproval(print, line, { content, now }),
  );
}

/** Who reads what people wrote leaves a line in the audit. */
async function withContent(deps: CliDeps, line: ApprovalLine, now: Date): Promise<ApprovalView | undefined> {
  const { approvalId, chatId } = line;
  return deps.inScope(async (scope) => {
    const [view] = await listApprovals(scope, { filter: { approvalId }, limit: 1, now });
    await appendAudit(scope.tx, {
      stream: chatId,
      event: 'content_shown',
      subjectId: approvalId,
      actor: 'cli',
      facts: { surface: 'cli' },
    });
    return view;
  });
}

async function decide(
  deps: CliDeps,
  asked: { ref: string; decision: ApprovalDecision; as: string; reason?: string },
): Promise<void> {
  const { ref, decision, reason } = asked;
  const result = await act(deps, asked.as, (decisions, { tenantId, approver }) =>
    decisions.decideApproval({ tenantId, key: { ref }, decision, reason, approver }),
  );
  tell(deps, { ref, result, words: resultInWords(result, ref) });
}

async function edit(
  deps: CliDeps,
  asked: { ref: string; pairs: [string, string][]; as: string },
): Promise<void> {
  const { ref, pairs } = asked;
  const result = await act(deps, asked.as, (decisions, { tenantId, approver }) =>
    decisions.editApproval({ tenantId, key: { ref }, approver, change: { kind: 'pairs', pairs } }),
  );
  tell(deps, { ref, result, words: editInWords(result, ref) });
}

type Result = DecisionResult | EditResult;

/** Decides, and waits until the run has been told. */
async function act<Outcome extends Result>(
  deps: CliDeps,
  as: string,
  decideIt: (
    decisions: Decisions,
    who: { tenantId: string; approver: { surface: 'cli'; id: string } },
  ) => Promise<Outcome>,
): Promise<Outcome> {
  const approver = { surface: 'cli', id: deps.owner(as) } as const;
  const [tenantId, content] = [await deps.tenantId(), await deps.content()];
  const conversations = await deps.conversations();
  const decisions = createDecisions({
    database: deps.database(),
    content,
    conversations,
    configuration: deps.configuration,
    logger: deps.logger,
  });
  const result = await decideIt(decisions, { tenantId, approver });
  // The row is decided all the same.
  if (conversations.isThere) await conversations.settled();
  else if (DONE.has(result.outcome)) {
    deps.output.note('Temporal can’t be reached: the gateway tells the run once it can.');
  }
  return result;
}

/** All others are a no. */
const DONE: ReadonlySet<Result['outcome']> = new Set<Result['outcome']>(['decided', 'counted', 'edited']);

function tell(deps: CliDeps, { ref, result, words }: { ref: string; result: Result; words: string }): void {
  if (!DONE.has(result.outcome)) throw new CommandProblem(words);
  deps.output.answer({ ref, ...result }, (print) => print.line(words));
}
