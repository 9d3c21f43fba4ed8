// Values for tests of the conversation's memory.
import type { Say } from '../../workflows/conversation/contract.js';
import type { Lease, OpenSession, Pace, SessionNow, SessionOpened } from '../../workflows/domain/session.js';
import type { PreparedTurn, Profile } from '../../workflows/domain/turn.js';

export const uuid = (last: number): string => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;

export const pace: Pace = { graceMs: 180, debounceMs: 10, debounceMaxMs: 50, inactivityMs: 7_200 };
export const deskProfile: Profile = { ...pace, acknowledgeAfterMs: 6, leaseMs: 1_800 };

export const session = (state: OpenSession['state'], graceUntil = 180): OpenSession => ({
  sessionId: uuid(900),
  state,
  graceUntil,
});

export const opened = (state: OpenSession['state'], graceUntil = 180): SessionOpened => ({
  opened: session(state, graceUntil),
  pace,
});

export const resolved = (by: 'human' | 'manual'): SessionNow => ({
  sessionId: uuid(900),
  state: 'resolved',
  by,
});

export const say = (turnId: string, outboxId: string, final = true): Say => ({
  turnId,
  outboxId,
  kind: final ? 'answer' : 'acknowledgement',
  final,
});

/** A decided turn up to this message. */
export function turnUpTo(
  upTo: number,
  after: { session?: SessionNow; lease?: Lease } = {},
  profile: Profile = deskProfile,
): PreparedTurn {
  return {
    turnId: uuid(upTo),
    upTo,
    decision: {
      decisionId: 'd',
      turnId: uuid(upTo),
      roleId: 'r',
      effort: 'low',
      actor: 'customer',
      configHash: 'h',
      profile,
      expiresAt: 0,
      route: { kind: 'answer' },
    },
    ...after,
  };
}
