// The whole story of one run: what was asked, planned, allowed, done and said, and every line of the audit about it.
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { contentOf, inOrder, readable, type Scope } from '../scope.js';
import { jsonObjectOf, listApprovals, type ApprovalView } from './approvals.js';
import { chatLabels } from './chat-labels.js';
import { listQuestions, type OperatorQuestion } from './operator-questions.js';
import { codesOf, type RunLine } from './runs.js';

export interface StepView {
  stepId: string;
  ordinal: number;
  tool: string;
  effect: string | undefined;
  state: string;
  /** The tool has answered that it hasn't done it. */
  isDeclined: boolean;
  rule: string | undefined;
  failedCheck: string | undefined;
  code: string | undefined;
  attempts: number;
  arguments: JsonObject | undefined;
  isTainted: boolean;
  startedAt: Date | undefined;
  finishedAt: Date | undefined;
}

export interface RunStory extends RunLine {
  /** What the customer wrote in this turn, in order. */
  messages: RunMessage[];
  because: string | undefined;
  configHash: string;
  steps: StepView[];
  approvals: ApprovalView[];
  /** What was or will be said to the customer. */
  says: RunSay[];
  /** What people behind the desk were asked. */
  questions: OperatorQuestion[];
  audit: { number: number; event: string; actor: string; facts: JsonObject; at: Date }[];
}

export interface RunMessage {
  messageId: string;
  speaker: string;
  sequence: number;
  text: string | undefined;
  at: Date;
}

export interface RunSay {
  outboxId: string;
  /** Not the customer's: a notice, or a question to an operator, is said in another chat. */
  chatId: string;
  sequence: number | undefined;
  kind: string;
  text: string | undefined;
  state: string;
  code: string | undefined;
  /** The highest status that the platform has reported. */
  delivery: string | undefined;
  at: Date;
}

/** Everything that is known of one run, or undefined. */
export async function storyOfRun(
  scope: Scope,
  { runId, now }: { runId: string; now: Date },
): Promise<RunStory | undefined> {
  const row = await scope.tx.toolRun.findUnique({
    where: { turnId: runId },
    include: {
      steps: { orderBy: { ordinal: 'asc' } },
      turn: { select: { because: true, messages: { orderBy: { sequence: 'asc' } } } },
    },
  });
  if (!row) return undefined;
  const approvals = await listApprovals(scope, { filter: { turnId: runId }, limit: 20, now });
  const says = await scope.tx.outbox.findMany({ where: { turnId: runId }, orderBy: { plannedAt: 'asc' } });
  const questions = await listQuestions(scope, { filter: { turnId: runId }, limit: 20 });
  const label = (await chatLabels(scope, [row.chatId])).get(row.chatId);
  const subjects = [
    runId,
    ...row.steps.map((step) => step.id),
    ...approvals.map((one) => one.approvalId),
    ...says.map((say) => say.id),
    ...questions.map((question) => question.requestId),
  ];
  const audit = await scope.tx.audit.findMany({
    where: { subjectId: { in: subjects } },
    orderBy: [{ happenedAt: 'asc' }, { number: 'asc' }],
  });
  return {
    ...codesOf(row),
    chat: label?.address,
    with: label,
    because: row.turn.because ?? undefined,
    configHash: row.configHash,
    messages: await inOrder(row.turn.messages, async (message) => ({
      messageId: message.id,
      speaker: message.speaker,
      sequence: message.sequence,
      at: message.receivedAt,
      text: await contentOf(scope, 'inbox', message),
    })),
    steps: await inOrder(row.steps, async (step) => ({
      stepId: step.id,
      ordinal: step.ordinal,
      tool: step.tool,
      effect: step.effect ?? undefined,
      state: step.state,
      isDeclined: step.declined,
      rule: step.rule ?? undefined,
      failedCheck: step.failedCheck ?? undefined,
      code: step.code ?? undefined,
      attempts: step.attempts,
      isTainted: step.tainted,
      startedAt: step.startedAt ?? undefined,
      finishedAt: step.finishedAt ?? undefined,
      arguments: jsonObjectOf(
        await readable(scope, {
          table: 'steps',
          column: 'arguments_cipher',
          rowId: step.id,
          keyId: step.keyId,
          cipher: step.argumentsCipher,
        }),
      ),
    })),
    approvals,
    questions,
    says: await inOrder(says, async (say) => ({
      outboxId: say.id,
      chatId: say.chatId,
      sequence: say.sequence ?? undefined,
      kind: say.kind,
      state: say.state,
      code: say.code ?? undefined,
      delivery: say.deliveryStatus ?? undefined,
      at: say.settledAt ?? say.plannedAt,
      text: await contentOf(scope, 'outbox', say),
    })),
    audit: audit.map(({ number, event, actor, facts, happenedAt }) => ({
      number,
      event,
      actor,
      facts: jsonObjectOf(JSON.stringify(facts)) ?? {},
      at: happenedAt,
    })),
  };
}
