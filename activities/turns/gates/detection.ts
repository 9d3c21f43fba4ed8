import { openRunWithText } from '../../../prisma/stores/runs.js';
import type { TurnGate } from '../turn-context.js';
import { say } from '../../sentences.js';
import { offeredTo } from './offered-to.js';

/** The last gate: flagged messages go to the tool lane, all others are normal chat. */
export const detection: TurnGate = {
  name: 'detector',
  async decide(turn) {
    const { tenant, contexts, chat, messages, scope, text } = turn;
    const { candidates: ranking, because } = tenant.detector.detect({
      text,
      recentTools: contexts.map((context) => context.tool),
    });
    const candidates = offeredTo(
      turn,
      ranking.map(({ tool }) => tool),
    );
    if (candidates.length === 0) return { kind: 'answer', because };
    // The very same words while their run is open: a double tap, which needs neither a model nor a second run.
    const [only] = messages;
    const open =
      messages.length === 1 && only
        ? await openRunWithText(scope, { chatId: chat.chatId, contentHmac: only.contentHmac })
        : undefined;
    if (open !== undefined) {
      const text = say(tenant, 'alreadyBeingChecked');
      return { kind: 'fixed', as: 'answer', text, because: 'the same words are being worked on' };
    }
    return { kind: 'tools', candidates, contextIds: [], because, ranking };
  },
};
