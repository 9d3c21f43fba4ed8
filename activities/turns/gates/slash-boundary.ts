import type { TurnGate } from '../turn-context.js';
import { say } from '../../sentences.js';

/** A customer's slash never reaches owner, admin or tool controls; it doesn't reach a model either. */
export const slashBoundary: TurnGate = {
  name: 'slash',
  decide: (turn) =>
    turn.actor !== 'owner' && /^\s*\//.test(turn.text)
      ? { kind: 'fixed', as: 'refusal', text: say(turn.tenant, 'slashRefused'), because: 'a slash command' }
      : undefined,
};
