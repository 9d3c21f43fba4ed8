// Every activity of the worker, made from what it needs.
import type { Activities } from '../workflows/activity-ports.js';
import { createAnswerActivities } from './answering/answer.js';
import { createApprovalActivities } from './approvals/settle.js';
import { withAttention } from './delivery/attention.js';
import { createDeliveryActivities } from './delivery/deliver.js';
import type { ActivityDeps } from './deps.js';
import { createDeskActivities } from './desk/desk-state.js';
import { createDetectionActivities } from './detection/detect.js';
import { createExecutionActivities } from './execution/execute-step.js';
import { deskCommands } from './operators/desk-commands.js';
import { answerAsOperator } from './operators/operator-reply.js';
import { createOwnerCommands } from './owner/owner-command.js';
import { createPlanningActivities } from './planning/plan.js';
import { createSummarizationActivities } from './summarization/summarize.js';
import { createTurnActivities } from './turns/prepare-turn.js';
import { createValidationActivities } from './validation/validate.js';

export function createActivities(deps: ActivityDeps): Activities {
  return withAttention(deps, {
    ...createTurnActivities(deps, {
      owner_command: createOwnerCommands(deskCommands),
      operator_reply: answerAsOperator,
    }),
    ...createDeskActivities(deps),
    ...createAnswerActivities(deps),
    ...createDeliveryActivities(deps),
    ...createDetectionActivities(deps),
    ...createPlanningActivities(deps),
    ...createValidationActivities(deps),
    ...createApprovalActivities(deps),
    ...createExecutionActivities(deps),
    ...createSummarizationActivities(deps),
  });
}
