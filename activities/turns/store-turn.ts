// Stores what a gate has decided, with the words that go with it, in the transaction that decided it.
import { randomUUID } from 'node:crypto';
import { planMessage } from '../../prisma/stores/outbox.js';
import { prepared, storeDecision, type ClaimedTurn } from '../../prisma/stores/turns.js';
import type { PreparedTurn, Profile, TurnDecision, TurnRoute } from '../../workflows/domain/turn.js';
import { handOff, isHandOffReason } from '../desk/hand-off.js';
import type { GateOutcome, TurnContext } from './turn-context.js';

export interface Decided {
  turn: TurnContext;
  claimed: ClaimedTurn;
  outcome: GateOutcome;
  /** The name of the gate, or of whoever answered in its place. */
  gate: string;
  profile: Profile;
}

export async function storeTurn({ turn, claimed, outcome, gate, profile }: Decided): Promise<PreparedTurn> {
  const { scope, tenant, turnId } = turn;
  const { configuration } = tenant;
  const decision: TurnDecision = {
    decisionId: randomUUID(),
    turnId,
    roleId: configuration.assistant.roleId,
    effort: configuration.models.effort,
    actor: turn.actor,
    configHash: configuration.hash,
    profile,
    expiresAt: Date.now() + configuration.limits.decisionMinutes * 60_000,
    route: await toRoute(turn, outcome, gate),
  };
  await storeDecision(scope, { decision, gate, because: outcome.because });
  return prepared({ ...claimed, decision });
}

async function toRoute(turn: TurnContext, outcome: GateOutcome, gate: string): Promise<TurnRoute> {
  switch (outcome.kind) {
    case 'answer':
      return { kind: 'answer' };
    case 'silent': {
      const { isHandedOff, bells } = outcome;
      if (isHandedOff) await tellPeople(turn, gate);
      return { kind: 'silent', reason: gate, ...(isHandedOff && { isHandedOff }), ...(bells && { bells }) };
    }
    case 'decided':
      return { kind: 'decided', approvalId: outcome.approvalId, runId: outcome.runId };
    case 'tools': {
      const { candidates, contextIds, questionId, because, ranking } = outcome;
      return {
        kind: 'tools',
        candidates,
        contextIds,
        because,
        ...(questionId !== undefined && { questionId }),
        ...(ranking && { ranking: ranking.filter(({ tool }) => candidates.includes(tool)) }),
      };
    }
    case 'fixed': {
      const { text, as, bells } = outcome;
      const outboxId = await sayByGate(turn, { kind: as, text });
      return { kind: 'fixed', outboxId, gate, ...(bells && { bells }) };
    }
    case 'handOff': {
      const outboxId = await sayByGate(turn, { kind: 'handOff', text: outcome.text });
      const notices = await tellPeople(turn, gate);
      return { kind: 'handOff', outboxId, reason: gate, ...(notices.length > 0 && { notices }) };
    }
  }
}

async function sayByGate(
  { scope, chat, turnId, messages }: TurnContext,
  words: { kind: 'answer' | 'refusal' | 'handOff'; text: string },
): Promise<string> {
  const { outboxId } = await planMessage(scope, {
    chatId: chat.chatId,
    contactId: chat.contactId,
    turnId,
    origin: { kind: 'gate', id: turnId },
    ...words,
    answersMessageId: messages.at(-1)?.messageId,
  });
  return outboxId;
}

function tellPeople({ scope, tenant, chat, turnId, text }: TurnContext, gate: string): Promise<string[]> {
  if (!isHandOffReason(gate)) throw new Error(`nobody knows whom to tell when ${gate} hands off`);
  const { chatId, contactId, accountKey } = chat;
  return handOff(scope, tenant, { chatId, contactId, accountKey, turnId, reason: gate, text });
}
