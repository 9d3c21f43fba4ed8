// What becomes of an accepted message (spec G1): exactly one terminal state, with a reason.

export const MESSAGE_STATES = [
  'accepted',
  'answered',
  'handed_off',
  'refused',
  'merged',
  'ignored',
  'expired',
] as const;

/** `accepted` is the only state that is still open. */
export type MessageState = (typeof MESSAGE_STATES)[number];

/** Where an outgoing message stands. `unknown` stays open until a status, the page or a person settles it. */
export const OUTBOX_STATES = ['planned', 'sending', 'sent', 'failed', 'unknown', 'discarded'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** What an outgoing message means to the turn it belongs to; all but the acknowledgement close it. */
export type SayKind = 'acknowledgement' | 'question' | 'answer' | 'refusal';

/** The terminal message state that a delivered say of this kind brings. */
export function messageStateAfter(kind: SayKind): MessageState | undefined {
  switch (kind) {
    case 'acknowledgement':
      return undefined;
    case 'question':
    case 'answer':
      return 'answered';
    case 'refusal':
      return 'refused';
  }
}
