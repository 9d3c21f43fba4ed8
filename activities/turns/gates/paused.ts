import type { TurnGate } from '../turn-context.js';

/** A person has taken this chat over: the assistant keeps silent until it is given back. */
export const paused: TurnGate = {
  name: 'paused',
  decide: ({ chat }) =>
    chat.isPaused ? { kind: 'silent', because: 'a person has taken the chat over' } : undefined,
};
