// Whether a step has the yes that it needs. Read again from the rows in the transaction that starts the step: an approval of
// another chat, for other arguments, under other terms, or that nobody has given, is none.
import { consumeApproval } from '../../prisma/stores/approvals.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { Step } from '../../prisma/stores/steps.js';
import type { TurnRow } from '../../prisma/stores/turns.js';
import type { PolicyAnswer } from '../../config/policy.js';
import { isAsked, type Approver } from '../../workflows/domain/approval.js';

export interface NeededYes {
  step: Step;
  turn: TurnRow;
  /** What policy says now, which may be more than when the yes was asked for. */
  policy: PolicyAnswer;
  /** Ids of those who are owners now. */
  owners: readonly string[];
  configHash: string;
}

/** Whether the yes is there. Takes nothing. */
export async function hasYes(scope: Scope, needed: NeededYes): Promise<boolean> {
  const { step, turn, policy, owners, configHash } = needed;
  const approval = await scope.tx.approval.findFirst({
    where: {
      stepId: step.stepId,
      turnId: turn.turnId,
      chatId: turn.chatId,
      argumentsHash: step.argumentsHash,
      configHash,
      state: 'approved',
    },
    include: { decisions: { where: { decision: 'approve' } } },
  });
  if (!approval) return false;
  const isConfirmed = approval.gate === 'confirm';
  if (isConfirmed && gateOf(needed) === 'approve') return false;
  const votes = approval.decisions.filter(
    ({ surface, approver }) =>
      (surface === 'chat') === isConfirmed &&
      (!PERSONAL.has(surface) || owners.includes(approver)) &&
      isNamed(approval, policy, { surface, approver }),
  );
  const enough = isConfirmed ? 1 : Math.max(approval.needed, policy.needed);
  return new Set(votes.map(({ approver }) => approver)).size >= enough;
}

/** Takes the yes, once. False: it is gone meanwhile. */
export async function takeYes(scope: Scope, needed: NeededYes): Promise<boolean> {
  const { step, configHash } = needed;
  const { stepId, argumentsHash } = step;
  return consumeApproval(scope, { stepId, gate: gateOf(needed), argumentsHash, configHash });
}

/** Where a vote bears the id of an owner. */
const PERSONAL: ReadonlySet<string> = new Set<Approver['surface']>(['console', 'web', 'whatsapp']);

/** The stricter of what was asked for and what policy asks for now. */
function gateOf({ step, policy }: NeededYes): 'confirm' | 'approve' {
  return policy.gate === 'confirm' && step.gate === 'confirm' ? 'confirm' : 'approve';
}

/** By the terms under which it was asked, and by those of now. */
function isNamed(
  approval: { approvers: string[]; needed: number },
  policy: PolicyAnswer,
  vote: { surface: string; approver: string },
): boolean {
  const approver = approverOf(vote);
  return approver !== undefined && isAsked(approval, approver) && isAsked(policy, approver);
}

const SURFACES: Record<Approver['surface'], true> = {
  chat: true,
  console: true,
  api: true,
  cli: true,
  temporal: true,
  whatsapp: true,
  web: true,
};

function approverOf({ surface, approver }: { surface: string; approver: string }): Approver | undefined {
  return isSurface(surface) ? { surface, id: approver } : undefined;
}

function isSurface(surface: string): surface is Approver['surface'] {
  return Object.hasOwn(SURFACES, surface);
}
