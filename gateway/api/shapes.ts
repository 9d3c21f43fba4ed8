// The API's answers: one function per shape of docs/openapi.yaml. Times are ISO 8601 in UTC. What was erased is null.
import type { RunStory } from '../../prisma/stores/views/run-story.js';
import type { RunLine } from '../../prisma/stores/views/runs.js';
import type { ApprovalView, DecisionView } from '../../prisma/stores/views/approvals.js';
import type { ChatMessage } from '../../prisma/stores/views/chat.js';
import type { MessageLine } from '../../prisma/stores/views/messages.js';

export function messageJson(message: ChatMessage) {
  return {
    id: message.id,
    sequence: message.sequence,
    from: message.from,
    text: message.text ?? null,
    state: message.state,
    at: message.at.toISOString(),
    ...(message.answers && { answers: message.answers.id }),
  };
}

export function approvalJson(approval: ApprovalView) {
  return {
    ref: approval.ref,
    tool: approval.tool,
    arguments: approval.arguments ?? null,
    chat: approval.chat ?? null,
    rule: approval.rule,
    state: approval.state,
    askedAt: approval.askedAt.toISOString(),
    expiresAt: approval.expiresAt.toISOString(),
    runId: approval.turnId,
    approvers: approval.approvers,
    needed: approval.needed,
    yeses: approval.yeses,
    onExpiry: approval.onExpiry,
    tainted: approval.isTainted,
    ...(approval.replaces !== undefined && { replaces: approval.replaces }),
    ...(approval.replacedBy !== undefined && { replacedBy: approval.replacedBy }),
    ...(approval.decision && { decision: decisionJson(approval.decision) }),
  };
}

function decisionJson({ decision, surface, approver, reason, decidedAt }: DecisionView) {
  return { decision, surface, approver, reason: reason ?? null, decidedAt: decidedAt.toISOString() };
}

export function runJson(run: RunLine, temporalUrl: string | undefined) {
  return {
    id: run.runId,
    state: run.state,
    code: run.code ?? null,
    tool: run.tools[0] ?? null,
    tools: run.tools,
    chat: run.chat ?? null,
    startedAt: run.startedAt.toISOString(),
    closedAt: run.closedAt?.toISOString() ?? null,
    temporalUrl: temporalUrl ?? null,
  };
}

/** Without what was said: that is asked of the chat. */
export function runStoryJson(run: RunStory, temporalUrl: string | undefined) {
  return {
    ...runJson(run, temporalUrl),
    steps: run.steps.map((step) => ({
      id: step.stepId,
      ordinal: step.ordinal,
      tool: step.tool,
      effect: step.effect ?? null,
      state: step.state,
      rule: step.rule ?? null,
      failedCheck: step.failedCheck ?? null,
      code: step.code ?? null,
      attempts: step.attempts,
      startedAt: step.startedAt?.toISOString() ?? null,
      finishedAt: step.finishedAt?.toISOString() ?? null,
    })),
    approvals: run.approvals.map(approvalJson),
  };
}

export function openMessageJson(message: MessageLine, now: Date) {
  return {
    messageId: message.messageId,
    id: message.id,
    chat: message.chat ?? null,
    sequence: message.sequence,
    text: message.text ?? null,
    state: message.state,
    reason: message.reason ?? null,
    receivedAt: message.receivedAt.toISOString(),
    ageSeconds: Math.max(
      0,
      Math.floor(((message.settledAt ?? now).getTime() - message.receivedAt.getTime()) / 1000),
    ),
    runId: message.run?.runId ?? null,
  };
}
