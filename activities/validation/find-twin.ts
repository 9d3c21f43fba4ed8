// The same request under way, or done a while ago (spec A6). Looking something up again is nobody's mistake.
import { openQuestion, questionById } from '../../prisma/stores/questions.js';
import { closeRun, openRunWithRequest, succeededRequest } from '../../prisma/stores/runs.js';
import type { Verdict } from '../../workflows/domain/plan.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import { canonicalCall } from '../call-hash.js';
import { say } from '../sentences.js';
import { minutesFromNow, requestKeyOf, tell, type Validation } from './validation.js';

/** Nothing where the request is a new one, or where the customer has said that another one is meant. */
export async function findTwin(validation: Validation, tool: ToolDefinition): Promise<Verdict | undefined> {
  const { scope, tenant, turn } = validation;
  const { turnId, chatId } = turn;
  const requestKey = await requestKeyOf(validation);
  const open = await openRunWithRequest(scope, { turnId, chatId, requestKey });
  if (open !== undefined) {
    await closeRun(scope, { turnId, chatId, to: 'already_open' });
    const { outboxId } = await tell(validation, { kind: 'answer', text: say(tenant, 'alreadyBeingChecked') });
    return { kind: 'alreadyOpen', runId: open, outboxId };
  }
  if (tool.effect === 'read' || (await wasAskedWhetherAgain(validation))) return undefined;
  const { repeatHours, questionMinutes } = tenant.configuration.limits;
  const since = new Date(Date.now() - repeatHours * 3_600_000);
  if (!(await succeededRequest(scope, { chatId, requestKey, since }))) return undefined;
  const { questionId } = await openQuestion(scope, {
    chatId,
    contactId: turn.contactId,
    turnId,
    kind: 'repeat',
    tool: tool.name,
    missing: [],
    arguments: validation.step.arguments,
    isTainted: turn.isTainted,
    expiresAt: minutesFromNow(questionMinutes),
  });
  await closeRun(scope, { turnId, chatId, to: 'asked' });
  const { outboxId } = await tell(validation, { kind: 'question', text: say(tenant, 'alreadyDone', {}) });
  return { kind: 'needsInput', questionId, outboxId };
}

/** This turn answers our question whether the very same is meant once more. */
async function wasAskedWhetherAgain({ scope, turn, step }: Validation): Promise<boolean> {
  const { route } = turn.decision;
  if (route.kind !== 'tools' || route.questionId === undefined) return false;
  const question = await questionById(scope, route.questionId);
  if (question.kind !== 'repeat' || question.tool !== step.tool) return false;
  return canonicalCall(step.tool, question.arguments) === canonicalCall(step.tool, step.arguments);
}
