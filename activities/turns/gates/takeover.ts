import type { TurnGate } from '../turn-context.js';

/** A person has the chat and reads what is written in it: the assistant keeps silent until the chat is given back. */
export const takeover: TurnGate = {
  name: 'takeover',
  decide: ({ chat }) =>
    chat.isPaused
      ? { kind: 'silent', isHandedOff: true, because: 'a person has taken the chat over' }
      : undefined,
};
