// What is logged of a turn, stage by stage (spec A14). A turn has the id of its first message, and that is the correlation
// id: the gateway, the activities and the workflow ids all carry it, so one search finds the whole story.
import type { Facts } from '../config/logger.js';
import type { ActivityDeps } from './deps.js';

/** Names are stable: alerts and dashboards are built on them. */
export type Stage =
  | 'AgentToolCandidate'
  | 'AgentToolFollowupResolved'
  | 'AgentToolJobEnqueued'
  | 'AgentToolJobDedupe'
  | 'AgentToolPlannerStart'
  | 'AgentToolPlannerResult'
  | 'AgentToolPlanAccepted'
  | 'AgentToolPlanRejected'
  | 'AgentToolPolicyDenied'
  | 'AgentToolImmediateStart'
  | 'AgentToolImmediateTimeout'
  | 'AgentToolExecutionSucceeded'
  | 'AgentToolExecutionFailed'
  | 'AgentToolContextStored';

/** Logs a stage of a turn. Ids, codes and counts only; the logger withholds anything that looks like content. */
export function logStage(
  { log }: Pick<ActivityDeps, 'log'>,
  stage: Stage,
  turn: { tenantId: string; turnId: string },
  facts: Facts = {},
): void {
  log.event(stage, { tenantId: turn.tenantId, correlationId: turn.turnId, ...facts });
}
