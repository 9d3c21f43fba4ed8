// Never both talking (spec G5): whatever comes between any two steps of a conversation, a customer hears one voice at a time, and
// nothing is lost over it.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SmallDesk } from './small-desk.js';
import { pace } from './kit.js';

type Event =
  | { kind: 'customer' | 'person' | 'release' | 'run' | 'end of a run'; isLost: boolean }
  | { kind: 'time'; ms: number }
  | { kind: 'sweep' };
/** What happens, and how many steps the conversation takes before the next thing happens. */
type Moment = { event: Event; steps: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['customer', 'customer', 'person', 'release', 'run', 'run', 'end of a run'] as const),
      ),
      isLost: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      ms: fc.constantFrom(1, 7, 40, 180, 700, 1_900, 8_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
);
const moments: fc.Arbitrary<Moment[]> = fc.array(fc.record({ event, steps: fc.nat({ max: 4 }) }), {
  minLength: 1,
  maxLength: 40,
});

async function happen(desk: SmallDesk, { event: what, steps }: Moment): Promise<void> {
  switch (what.kind) {
    case 'customer':
      desk.customerWrites({ bellIsLost: what.isLost });
      break;
    case 'person':
      desk.personWrites({ bellIsLost: what.isLost });
      break;
    case 'release':
      desk.personReleases({ bellIsLost: what.isLost });
      break;
    case 'run':
      desk.runGoesOn({ sayIsLost: what.isLost });
      break;
    case 'end of a run':
      desk.runDies({ isUnnoticed: what.isLost });
      break;
    case 'time':
      await desk.passes(what.ms);
      break;
    case 'sweep':
      desk.sweep();
  }
  for (let taken = 0; taken < steps; taken += 1) await desk.step();
}

/** Half of the stories begin where the assistant has begun to work. */
async function openDesk({ isBusy }: { isBusy: boolean }): Promise<SmallDesk> {
  const desk = new SmallDesk();
  if (!isBusy) return desk;
  desk.customerWrites({ bellIsLost: false });
  while (await desk.step());
  await desk.passes(pace.graceMs ?? 0);
  while (await desk.step());
  return desk;
}

/** Nobody writes any more: leases run out, runs get their yes, the sweep comes by. */
async function comeToRest(desk: SmallDesk): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    await desk.passes(10_000);
    desk.sweep();
    while (await desk.step());
    desk.runGoesOn({ sayIsLost: round % 2 === 0 });
    while (await desk.step());
  }
}

describe('a customer', function () {
  this.timeout(60_000);

  it('hears one voice at a time, and every message and every run comes to its end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), moments, async (isBusy, story) => {
        const desk = await openDesk({ isBusy });
        for (const moment of story) await happen(desk, moment);
        await comeToRest(desk);
        assert.deepEqual(desk.wrong, []);
        assert.deepEqual(
          desk.messages.filter((message) => message.state === 'accepted'),
          [],
          'every message is answered or handed off',
        );
        const ends = ['done', 'dead'];
        assert.deepEqual(
          [...desk.runs.values()].filter((stage) => !ends.includes(stage)),
          [],
          'no run stays behind',
        );
        assert.deepEqual(
          [...desk.words.values()].filter((words) => words.state === 'planned'),
          [],
          'nothing stays unsaid',
        );
        assert.equal(desk.hasEnded, true, 'the conversation ends');
      }),
      { seed: 20_261_201, numRuns: 400 },
    );
  });

  it('hears nothing of the assistant between a person’s word and the end of the lease', async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), moments, async (isBusy, story) => {
        const desk = await openDesk({ isBusy });
        for (const moment of story) {
          const before = desk.heard.length;
          const takenBefore = desk.isTaken;
          await happen(desk, moment);
          const spoken = desk.heard.slice(before).filter(({ by }) => by === 'assistant');
          if (takenBefore && desk.isTaken) assert.deepEqual(spoken, []);
        }
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it('is told what was approved meanwhile when the person is done, once', async () => {
    const desk = new SmallDesk();
    desk.customerWrites({ bellIsLost: false });
    while (await desk.step());
    await desk.passes(pace.graceMs ?? 0);
    while (await desk.step());
    desk.runGoesOn({ sayIsLost: false });
    while (await desk.step());
    assert.deepEqual(
      desk.heard.map(({ by }) => by),
      ['assistant'],
    );
    desk.personWrites({ bellIsLost: false });
    desk.runGoesOn({ sayIsLost: false });
    while (await desk.step());
    assert.deepEqual([...desk.runs.values()], ['parked']);
    desk.customerWrites({ bellIsLost: false });
    while (await desk.step());
    assert.equal(desk.messages[1]?.state, 'handed_off');
    await desk.passes(pace.inactivityMs / 4);
    while (await desk.step());
    assert.deepEqual([...desk.runs.values()], ['done']);
    assert.deepEqual(
      desk.heard.map(({ by }) => by),
      ['assistant', 'person', 'assistant'],
    );
  });

  it('hears held words at the end of the lease, also where nobody had told of the person', async () => {
    const desk = new SmallDesk();
    const settle = async (): Promise<void> => {
      while (await desk.step());
    };
    desk.customerWrites({ bellIsLost: false });
    await settle();
    await desk.passes(pace.graceMs ?? 0);
    await settle();
    desk.personWrites({ bellIsLost: true });
    desk.runGoesOn({ sayIsLost: false });
    await settle();
    assert.deepEqual(
      desk.heard.map(({ by }) => by),
      ['person'],
    );
    await desk.passes(pace.inactivityMs / 4);
    await settle();
    assert.deepEqual(
      desk.heard.map(({ by }) => by),
      ['person', 'assistant'],
    );
  });
});
