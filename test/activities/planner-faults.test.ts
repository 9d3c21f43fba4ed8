// Every way in which a planner fails, through the real lane: nothing is ever executed, everybody is told something, and
// only what may help is tried again.
import assert from 'node:assert/strict';
import type { AnswerScript } from '../../local/model/scenario.js';
import { startDesk, type Desk } from '../support/desk.js';

interface Row {
  fault: string;
  answers: AnswerScript[];
  /** How often the planner is asked. */
  calls: number;
  state: 'answered' | 'refused';
  hears: RegExp;
}

const book = (time: string, id?: string): NonNullable<AnswerScript['toolUse']>[number] => ({
  name: 'reserve_slot',
  input: { date: '2026-12-04', time },
  ...(id !== undefined && { id }),
});
const times = (count: number, answer: AnswerScript): AnswerScript[] =>
  Array<AnswerScript>(count).fill(answer);
const UNAVAILABLE = /can't answer just now/;
const ASKED = /passed this on/;

const ROWS: Row[] = [
  {
    fault: '429 with a delay, once',
    answers: [{ status: 429, retryAfter: 1 }],
    calls: 2,
    state: 'answered',
    hears: ASKED,
  },
  { fault: '529, once', answers: [{ status: 529 }], calls: 2, state: 'answered', hears: ASKED },
  {
    fault: '500, for good',
    answers: times(4, { status: 500 }),
    calls: 4,
    state: 'refused',
    hears: UNAVAILABLE,
  },
  { fault: '400', answers: [{ status: 400 }], calls: 1, state: 'refused', hears: UNAVAILABLE },
  { fault: '401', answers: [{ status: 401 }], calls: 1, state: 'refused', hears: UNAVAILABLE },
  { fault: 'silence, once', answers: [{ silence: true }], calls: 2, state: 'answered', hears: ASKED },
  {
    fault: 'a reply that breaks off',
    answers: [{ cutAfterBytes: 40 }],
    calls: 2,
    state: 'answered',
    hears: ASKED,
  },
  { fault: 'half of its JSON', answers: [{ halfJson: true }], calls: 2, state: 'answered', hears: ASKED },
  {
    fault: 'a refusal',
    answers: [{ stopReason: 'refusal' }],
    calls: 1,
    state: 'refused',
    hears: /not allowed/,
  },
  {
    fault: 'max_tokens, for good',
    answers: times(4, { stopReason: 'max_tokens', text: 'I would' }),
    calls: 4,
    state: 'refused',
    hears: UNAVAILABLE,
  },
  {
    fault: 'an unknown stop reason, once',
    answers: [{ stopReason: 'weird', text: 'hm' }],
    calls: 2,
    state: 'answered',
    hears: ASKED,
  },
  {
    fault: 'two calls that share one id, once',
    answers: [{ toolUse: [book('14:00', 'same'), book('15:00', 'same')] }],
    calls: 2,
    state: 'answered',
    hears: ASKED,
  },
  {
    fault: 'more calls than steps, once',
    answers: [{ toolUse: [book('14:00'), book('15:00')] }],
    calls: 2,
    state: 'answered',
    hears: ASKED,
  },
  {
    fault: 'a tool that was not offered',
    answers: [{ toolUse: [{ name: 'drop_all_tables', input: {} }] }],
    calls: 1,
    state: 'refused',
    hears: /isn't something I can do/,
  },
  {
    fault: 'arguments that break the schema',
    answers: [{ toolUse: [{ name: 'reserve_slot', input: { date: 'Friday', time: 14 } }] }],
    calls: 1,
    state: 'refused',
    hears: /didn't quite get the details/,
  },
  {
    fault: 'a prototype as an argument, once',
    answers: [
      { toolUse: [{ name: 'reserve_slot', input: { constructor: {}, date: '2026-12-04', time: '14:00' } }] },
    ],
    calls: 2,
    state: 'answered',
    hears: ASKED,
  },
  {
    fault: 'a question that the runtime has to complete',
    answers: [{ toolUse: [{ name: 'reserve_slot', input: { date: '2026-12-04' } }] }],
    calls: 1,
    state: 'answered',
    hears: /tell me the time/,
  },
];

describe('a planner that fails', function () {
  this.timeout(90_000);
  let desk: Desk;
  const ids = new Map<Row, string>();

  // All at once: the delays between the tries are the lane's own, and each chat waits for itself.
  before(async () => {
    desk = await startDesk({ modelTimeoutMs: 2_000 });
    await desk.model.script(
      ...ROWS.flatMap((row, index) =>
        row.answers.map((answer) => ({ ...answer, match: `request ${index}.`, withTools: true })),
      ),
    );
    for (const [index, row] of ROWS.entries()) {
      ids.set(
        row,
        await desk.send(
          `chat-${index}`,
          `Book Friday at ${10 + (index % 2)}:00 please. This is request ${index}.`,
        ),
      );
    }
  });
  after(async () => {
    await desk.stop();
  });

  for (const [index, row] of ROWS.entries()) {
    it(`${row.fault}: ${row.calls === 1 ? 'asked once' : `asked ${row.calls} times`}, ${row.state}`, async () => {
      const reply = await firstReply(desk, `chat-${index}`);
      assert.match(reply, row.hears);
      const asked = (await desk.model.requests()).filter(
        ({ body }) => body.tools !== undefined && JSON.stringify(body.messages).includes(`request ${index}.`),
      );
      assert.equal(asked.length, row.calls);
      if (row.hears !== ASKED) assert.equal((await desk.settled(ids.get(row) ?? '')).state, row.state);
    });
  }

  it('is audited each time, by codes and without words', async () => {
    const rows = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.audit.findMany({ where: { event: { in: ['plan_denied', 'plan_unreadable'] } } }),
    );
    const told = rows.map(({ event, facts }) => `${event} ${JSON.stringify(facts)}`);
    assert.deepEqual([...new Set(told)].sort(), [
      'plan_denied {"by":"model","code":"TOOL_POLICY_DENIED"}',
      'plan_unreadable {"code":"cut_off"}',
      'plan_unreadable {"code":"doubled_id"}',
      'plan_unreadable {"code":"no_object"}',
      'plan_unreadable {"code":"too_many_calls"}',
      'plan_unreadable {"code":"unknown_ending"}',
    ]);
    assert.equal(told.filter((line) => line.includes('cut_off')).length, 4, 'once for each try');
  });

  it('has executed nothing', async () => {
    const [booked, started] = await desk.database.inTenant(desk.tenantId, async (tx) => [
      await tx.booking.count(),
      await tx.step.count({ where: { startedAt: { not: null } } }),
    ]);
    assert.deepEqual([booked, started], [0, 0]);
  });
});

/** An acknowledgement may come first where the tries take long. */
async function firstReply(desk: Desk, chat: string): Promise<string> {
  const replies = await desk.repliesWithin(chat, 1, 40_000);
  const first = replies.find((reply) => !reply.text.includes('right back'));
  return (first ?? (await desk.nextReply(chat, 2))).text;
}
