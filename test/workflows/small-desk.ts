// A desk in memory, for tests that let anything come between any two steps of a conversation: rows as the stores keep them, runs
// that work, ask and finish, people who write. The conversation in it is the real one, with its real memory.
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { act, type Effects } from '../../workflows/conversation/acts.js';
import {
  nextThing,
  noteDeskChanged,
  noteInbox,
  noteRunEnded,
  noteRunFoundClosed,
  noteSay,
  startState,
  type ConversationState,
} from '../../workflows/conversation/state.js';
import type { OutboxState } from '../../workflows/domain/message.js';
import type { Lease, OpenSession } from '../../workflows/domain/session.js';
import type { PreparedTurn, TurnRoute } from '../../workflows/domain/turn.js';
import { deskProfile, pace, say, turnUpTo, uuid } from './kit.js';

const LEASE_MS = pace.inactivityMs / 4;

interface Words {
  turnId: string;
  isFinal: boolean;
  hasRun: boolean;
  state: OutboxState;
}

export type RunStage = 'working' | 'asking' | 'parked' | 'done' | 'dead';

export interface Message {
  turnId?: string;
  state: 'accepted' | 'answered' | 'handed_off';
}

export class SmallDesk {
  now = 0;
  readonly messages: Message[] = [];
  readonly words = new Map<string, Words>();
  readonly runs = new Map<string, RunStage>();
  /** Who spoke, in the order in which the customer read it. */
  readonly heard: { by: 'assistant' | 'person'; at: number }[] = [];
  /** Things that must never happen. */
  readonly wrong: string[] = [];
  session: OpenSession | undefined;
  #takenUntil: number | undefined;
  #state: ConversationState | undefined;
  #gates: (() => void)[] = [];
  #sleeper: (() => void) | undefined;
  #ids = 1_000;

  get isTaken(): boolean {
    return this.#takenUntil !== undefined && this.#takenUntil > this.now;
  }

  get hasEnded(): boolean {
    return this.#state === undefined;
  }

  // What happens at a desk ----------------------------------------------------------------------------------------------

  customerWrites({ bellIsLost }: { bellIsLost: boolean }): void {
    this.messages.push({ state: 'accepted' });
    if (!bellIsLost) this.#ring();
  }

  personWrites({ bellIsLost }: { bellIsLost: boolean }): void {
    this.#takenUntil = Math.max(this.#takenUntil ?? 0, this.now + LEASE_MS);
    this.heard.push({ by: 'person', at: this.now });
    if (!bellIsLost) this.#deskChanged();
  }

  personReleases({ bellIsLost }: { bellIsLost: boolean }): void {
    this.#takenUntil = undefined;
    if (!bellIsLost) this.#deskChanged();
  }

  /** The oldest run that works says that it asks an owner; or the one that asks gets a yes, and finishes. */
  runGoesOn({ sayIsLost }: { sayIsLost: boolean }): void {
    const [turnId, stage] = [...this.runs].find(([, each]) => each === 'working' || each === 'asking') ?? [];
    if (turnId === undefined) return;
    if (stage === 'working') {
      this.runs.set(turnId, 'asking');
      this.#runSays(turnId, { isFinal: false, sayIsLost });
    } else this.#carryOut(turnId, { sayIsLost });
  }

  /** Somebody terminates the oldest run that is under way. */
  runDies({ isUnnoticed }: { isUnnoticed: boolean }): void {
    const [turnId] = [...this.runs].find(([, stage]) => stage !== 'done' && stage !== 'dead') ?? [];
    if (turnId === undefined) return;
    this.runs.set(turnId, 'dead');
    if (this.#state && !isUnnoticed) noteRunEnded(this.#state, turnId);
    this.#wake();
  }

  async passes(ms: number): Promise<void> {
    this.now += ms;
    this.#wake();
    await turnOfTheLoop();
  }

  /** The gateway's sweep: rings for whatever nobody works on. */
  sweep(): void {
    if (this.messages.some((message) => message.state === 'accepted' && !message.turnId)) this.#ring();
    if (this.#takenUntil !== undefined && !this.isTaken) this.#deskChanged({ starts: true });
    for (const [turnId, stage] of this.runs) {
      if (stage !== 'dead' || this.#isSettled(turnId)) continue;
      noteRunFoundClosed(this.#started(), { turnId });
      this.#wake();
    }
    if (this.isTaken) return;
    for (const [outboxId, { turnId, state, hasRun, isFinal }] of this.words) {
      if (state === 'planned' && hasRun) this.#say(turnId, outboxId, isFinal);
    }
  }

  /** Lets the conversation take its next step; false where it waits. */
  async step(): Promise<boolean> {
    await turnOfTheLoop();
    const open = this.#gates.shift();
    open?.();
    await turnOfTheLoop();
    return open !== undefined;
  }

  // The conversation ----------------------------------------------------------------------------------------------------

  #started(): ConversationState {
    if (this.#state) return this.#state;
    const state = startState({ now: this.now });
    this.#state = state;
    void this.#converse(state);
    return state;
  }

  async #converse(state: ConversationState): Promise<void> {
    const input = { tenantId: 'desk', chatId: 'chat' };
    const effects = this.#effects();
    await this.#gate();
    for (;;) {
      const next = nextThing(state, this.now);
      if (next.kind === 'end') break;
      if (next.kind === 'wait') await new Promise<void>((resolve) => (this.#sleeper = resolve));
      else await act({ input, state, effects }, next);
    }
    this.#state = undefined;
  }

  #gate(): Promise<void> {
    return new Promise((resolve) => this.#gates.push(resolve));
  }

  #wake(): void {
    this.#sleeper?.();
    this.#sleeper = undefined;
  }

  #ring(): void {
    noteInbox(this.#started(), { upTo: this.messages.length }, this.now, () => 0.5);
    this.#wake();
  }

  #say(turnId: string, outboxId: string, isFinal: boolean): void {
    noteSay(this.#started(), say(turnId, outboxId, isFinal), this.now);
    this.#wake();
  }

  #deskChanged({ starts = false }: { starts?: boolean } = {}): void {
    if (this.hasEnded && !starts) return;
    noteDeskChanged(this.#started());
    this.#wake();
  }

  // Runs ----------------------------------------------------------------------------------------------------------------

  #runSays(turnId: string, { isFinal, sayIsLost }: { isFinal: boolean; sayIsLost: boolean }): void {
    const outboxId = this.#plan({ turnId, isFinal, hasRun: true });
    if (!sayIsLost) this.#say(turnId, outboxId, isFinal);
  }

  #carryOut(turnId: string, { sayIsLost }: { sayIsLost: boolean }): void {
    if (this.isTaken) {
      this.runs.set(turnId, 'parked');
      return;
    }
    this.runs.set(turnId, 'done');
    this.#runSays(turnId, { isFinal: true, sayIsLost });
  }

  // Rows ----------------------------------------------------------------------------------------------------------------

  #plan(words: Omit<Words, 'state'>): string {
    const outboxId = uuid((this.#ids += 1));
    this.words.set(outboxId, { ...words, state: 'planned' });
    return outboxId;
  }

  #settle(turnId: string, to: 'answered' | 'handed_off'): void {
    for (const message of this.messages) {
      if (message.turnId === turnId && message.state === 'accepted') message.state = to;
    }
  }

  #isSettled(turnId: string): boolean {
    return this.messages.every((message) => message.turnId !== turnId || message.state !== 'accepted');
  }

  #lease(): { lease?: Lease } {
    return this.isTaken && this.#takenUntil !== undefined ? { lease: { until: this.#takenUntil } } : {};
  }

  #effects(): Effects {
    return {
      prepareTurn: async ({ sessionId }) => {
        await this.#gate();
        return this.#prepareTurn(sessionId);
      },
      answer: async ({ turnId }) => {
        await this.#gate();
        // Each fifth time the model is away.
        if (Number(turnId.slice(-2)) % 5 === 0) return undefined;
        return { outboxId: this.#plan({ turnId, isFinal: true, hasRun: false }) };
      },
      apologize: async ({ turnId }) => {
        await this.#gate();
        const written = [...this.words].find(([, words]) => words.turnId === turnId && words.isFinal);
        return {
          outboxId: written?.[0] ?? this.#plan({ turnId, isFinal: true, hasRun: this.runs.has(turnId) }),
        };
      },
      deliver: async ({ outboxId }) => {
        await this.#gate();
        if (this.#state?.desk.lease)
          this.wrong.push(`spoke at ${this.now}, knowing that a person has the chat`);
        return this.#deliver(outboxId);
      },
      acknowledge: async ({ turnId }) => {
        await this.#gate();
        if ([...this.words.values()].some((words) => words.turnId === turnId)) return { state: 'unneeded' };
        return this.#deliver(this.#plan({ turnId, isFinal: false, hasRun: true }));
      },
      deskState: async () => {
        await this.#gate();
        if (!this.isTaken) this.#takenUntil = undefined;
        if (this.isTaken && this.session?.state === 'waiting') this.session = undefined;
        const waiting = [...this.runs].filter(([, stage]) => stage === 'asking' || stage === 'parked');
        return {
          ...(this.session && { session: this.session, pace }),
          ...this.#lease(),
          runs: this.isTaken ? [] : waiting.map(([turnId]) => turnId),
        };
      },
      resolveSession: async ({ sessionId }) => {
        await this.#gate();
        if (this.session?.sessionId === sessionId) this.session = undefined;
        return {};
      },
      startRun: async ({ turnId }) => {
        await this.#gate();
        this.runs.set(turnId, 'working');
      },
      returnRun: async (turnId) => {
        await this.#gate();
        if (this.runs.get(turnId) === 'parked') this.#carryOut(turnId, { sayIsLost: false });
      },
      ring: async () => this.#gate(),
      now: () => this.now,
      random: () => 0.5,
    };
  }

  #deliver(outboxId: string): { state: OutboxState; held?: true } {
    const words = this.words.get(outboxId);
    if (!words) throw new Error('nothing of this id was planned');
    if (words.state !== 'planned') return { state: words.state };
    if (this.#isSettled(words.turnId)) words.state = 'discarded';
    else if (this.isTaken && words.hasRun) return { state: 'planned', held: true };
    else if (this.isTaken) {
      words.state = 'discarded';
      this.#settle(words.turnId, 'handed_off');
    } else {
      words.state = 'sent';
      this.heard.push({ by: 'assistant', at: this.now });
      if (words.isFinal) this.#settle(words.turnId, 'answered');
    }
    return { state: words.state };
  }

  #prepareTurn(
    sessionId: string | undefined,
  ): PreparedTurn | { opened: OpenSession; pace: typeof pace } | null {
    const waiting = this.messages.flatMap((message, index) =>
      message.state === 'accepted' && !message.turnId ? [index] : [],
    );
    const [first] = waiting;
    if (first === undefined) return null;
    if (!this.isTaken && this.session?.sessionId !== sessionId) {
      if (this.session) return { opened: this.session, pace };
    }
    if (!this.isTaken && !this.session) {
      const opened = { sessionId: uuid((this.#ids += 1)), graceUntil: this.now + (pace.graceMs ?? 0) };
      this.session = { ...opened, state: 'waiting' };
      return { opened: this.session, pace };
    }
    const turnId = uuid(first + 1);
    for (const index of waiting) Object.assign(this.messages[index] ?? {}, { turnId });
    const upTo = (waiting.at(-1) ?? 0) + 1;
    const turn = turnUpTo(upTo, this.#lease(), deskProfile);
    const known = this.session;
    const base = { ...turn, turnId };
    if (this.isTaken) {
      this.#settle(turnId, 'handed_off');
      if (known?.state === 'waiting') this.session = undefined;
      const silent: TurnRoute = { kind: 'silent', reason: 'takeover', isHandedOff: true };
      const session =
        known?.state === 'waiting' ? { ...known, state: 'resolved' as const, by: 'human' as const } : known;
      return { ...base, ...(session && { session }), decision: { ...turn.decision, route: silent } };
    }
    if (known) this.session = { ...known, state: 'active' };
    const route: TurnRoute =
      first % 2 === 0 ? { kind: 'tools', candidates: [], because: '', contextIds: [] } : { kind: 'answer' };
    return { ...base, ...(this.session && { session: this.session }), decision: { ...turn.decision, route } };
  }
}
