import type { TurnGate } from '../turn-context.js';

/** Somebody was blocked after they had written: what they wrote is kept, and never answered (spec B11). */
export const blocked: TurnGate = {
  name: 'blocked',
  decide: ({ chat }) =>
    chat.isBlocked === true ? { kind: 'silent', because: 'the sender is blocked' } : undefined,
};
