// What a conversation does about the next thing: which activities, in which order, and what it remembers of them. No Temporal
// here either: what reaches out is handed in, so that a test can let people, runs and clocks come between any two steps.
import type { Activities } from '../activity-ports.js';
import type { Bell, PreparedTurn } from '../domain/turn.js';
import type { ConversationInput, Say } from './contract.js';
import { noteLooking } from './desk.js';
import {
  type ConversationState,
  type NextThing,
  noteAcknowledged,
  noteDesk,
  noteDeskChanged,
  noteHeld,
  noteInboxEmpty,
  noteRunStarted,
  noteSaid,
  noteSay,
  noteSessionEnd,
  noteSessionOpened,
  noteTurn,
  noteTurnBegun,
} from './state.js';

type Called = 'prepareTurn' | 'acknowledge' | 'apologize' | 'deskState' | 'resolveSession';

/** All that a conversation reaches out by. */
export interface Effects extends Pick<Activities, Called> {
  /** `kind`: what a run's words are, for the engineer who reads the history. */
  deliver(
    words: { tenantId: string; outboxId: string },
    kind?: Say['kind'],
  ): ReturnType<Activities['deliver']>;
  /** Undefined: the assistant had no answer, and the turn needs an apology. */
  answer(turn: { tenantId: string; turnId: string }): Promise<{ outboxId: string } | undefined>;
  /** Starts the run of a turn, or finds it started. */
  startRun(turn: { turnId: string; candidates: string[] }): Promise<void>;
  /** Rings in another chat, or for a run. */
  ring(bell: Bell): Promise<void>;
  /** A run that was parked goes on. */
  returnRun(turnId: string): Promise<void>;
  now(): number;
  /** In [0, 1). */
  random(): number;
}

export interface Conversation {
  input: ConversationInput;
  state: ConversationState;
  effects: Effects;
}

export async function act(
  conversation: Conversation,
  next: Exclude<NextThing, { kind: 'wait' | 'end' }>,
): Promise<void> {
  const { input, state, effects } = conversation;
  switch (next.kind) {
    case 'look':
      return lookAtDesk(conversation);
    case 'say':
      return deliverOrHold(conversation, next.say);
    case 'silentEnd':
      return mendSilentEnd(conversation, next.turnId);
    case 'acknowledge':
      await effects.acknowledge({ tenantId: input.tenantId, turnId: next.turnId });
      noteAcknowledged(state, next.turnId);
      return;
    case 'turn':
      return takeTurn(conversation);
    case 'resolve':
      return endSession(conversation, { sessionId: next.sessionId, by: 'timeout' });
  }
}

/** The rows say who has the chat; what nobody keeps back any more goes on. */
async function lookAtDesk({ input, state, effects }: Conversation): Promise<void> {
  noteLooking(state.desk);
  const { tenantId, chatId } = input;
  const found = await effects.deskState({ tenantId, chatId });
  noteDesk(state, found);
  for (const turnId of found.runs) await effects.returnRun(turnId);
}

async function takeTurn(conversation: Conversation): Promise<void> {
  const { input, state, effects } = conversation;
  const { tenantId, chatId } = input;
  const rungUpTo = state.upTo;
  const { session } = state.desk;
  noteTurnBegun(state);
  const turn = await effects.prepareTurn({
    tenantId,
    chatId,
    after: state.doneUpTo,
    ...(session && { sessionId: session.sessionId }),
  });
  if (turn === null) {
    noteInboxEmpty(state, rungUpTo);
    return;
  }
  if ('opened' in turn) {
    noteSessionOpened(state, turn, { now: effects.now(), random: effects.random });
    if (turn.firstMessageId !== undefined) await effects.deliver({ tenantId, outboxId: turn.firstMessageId });
    return;
  }
  noteTurn(state, turn);
  await followRoute(conversation, turn);
}

async function followRoute(conversation: Conversation, turn: PreparedTurn): Promise<void> {
  const { input, state, effects } = conversation;
  const { tenantId } = input;
  const { turnId } = turn;
  const { route } = turn.decision;
  switch (route.kind) {
    case 'answer':
      return answer(conversation, turnId);
    case 'fixed':
      await deliverOrHold(conversation, { turnId, outboxId: route.outboxId });
      return ringAll(conversation, route.bells ?? []);
    case 'handOff':
      await deliverOrHold(conversation, { turnId, outboxId: route.outboxId });
      for (const outboxId of route.notices ?? []) await effects.deliver({ tenantId, outboxId });
      return;
    case 'silent':
      return ringAll(conversation, route.bells ?? []);
    case 'decided':
      return effects.ring(route);
    case 'tools':
      await effects.startRun({ turnId, candidates: route.candidates });
      noteRunStarted(state, { turnId, profile: turn.decision.profile, now: effects.now() });
  }
}

/** A failed turn never ends a conversation, and never leaves a customer without a word. */
async function answer(conversation: Conversation, turnId: string): Promise<void> {
  const { input, state, effects } = conversation;
  const turn = { tenantId: input.tenantId, turnId };
  const said = await effects.answer(turn);
  const { outboxId } = said ?? (await effects.apologize({ ...turn, reason: 'assistant_unavailable' }));
  await deliverOrHold(conversation, { turnId, outboxId });
  const sessionId = state.desk.session?.sessionId;
  // The next message is a new session's: a person may answer it first.
  if (!said && sessionId !== undefined) await endSession(conversation, { sessionId, by: 'ai_timeout' });
}

/**
 * The one voice towards the customer. Whether a person has the chat is decided by the delivery itself; words that it holds back
 * are kept until the chat comes back. A run's words come with their kind; those of the conversation's own turns are their last.
 */
async function deliverOrHold(
  { input, state, effects }: Conversation,
  what: Say | Pick<Say, 'turnId' | 'outboxId'>,
): Promise<void> {
  const { outboxId } = what;
  const { held } = await effects.deliver(
    { tenantId: input.tenantId, outboxId },
    ...('kind' in what ? [what.kind] : []),
  );
  const said: Say = { kind: 'answer', final: true, ...what };
  if (held) noteHeld(state, said);
  else noteSaid(state, said);
}

/** The run was terminated, or failed beyond its own means: its customer still gets an honest word. */
async function mendSilentEnd(conversation: Conversation, turnId: string): Promise<void> {
  const { input, state, effects } = conversation;
  state.silentEnds.shift();
  state.runs.delete(turnId);
  const { outboxId } = await effects.apologize({
    tenantId: input.tenantId,
    turnId,
    reason: 'assistant_unavailable',
  });
  await deliverOrHold(conversation, { turnId, outboxId });
}

async function endSession(
  { input, state, effects }: Conversation,
  session: { sessionId: string; by: 'timeout' | 'ai_timeout' },
): Promise<void> {
  const { tenantId, chatId } = input;
  noteSessionEnd(state, await effects.resolveSession({ tenantId, chatId, ...session }));
}

/** Others hear of what was stored with a turn, after its commit. A workflow doesn't signal itself. */
async function ringAll({ input, state, effects }: Conversation, bells: readonly Bell[]): Promise<void> {
  for (const bell of bells) {
    if (bell.kind === 'decided' || bell.chatId !== input.chatId) await effects.ring(bell);
    else if (bell.kind === 'desk') noteDeskChanged(state);
    else {
      const { turnId, outboxId, sayKind: kind, final } = bell;
      noteSay(state, { turnId, outboxId, kind, final }, effects.now());
    }
  }
}
