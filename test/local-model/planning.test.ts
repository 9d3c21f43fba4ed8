import type Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { PLAIN, callOf, dialogue, fieldOf, startModel, textOf, type RunningModel } from './model-server.js';

const string = (description: string, rest: object = {}) => ({ type: 'string', description, ...rest });
const object = (required: string[], properties: Record<string, object>) => ({
  type: 'object' as const,
  additionalProperties: false,
  required,
  properties,
});

// Two businesses that Aroko has never seen: a library and a taxi stand.
const LIBRARY: Anthropic.Tool[] = [
  {
    name: 'search_shelf',
    description: 'Search the shelf for books by a word or an author. Do not use to renew.',
    input_schema: object(['query'], { query: string('What to search for') }),
  },
  {
    name: 'renew_loan',
    description: 'Renew a loan so that a reader may keep it longer.',
    strict: true,
    input_schema: object(['title', 'weeks'], {
      title: string('Title of the book'),
      weeks: { type: 'integer', description: 'Number of weeks' },
    }),
  },
  {
    name: 'reading_room',
    description: 'Check when the reading room is open on a day.',
    input_schema: object(['day'], {
      day: string('The day', { format: 'date' }),
      half: string('Half of the day', { enum: ['morning', 'afternoon'] }),
    }),
  },
  {
    name: 'take_desk',
    description: 'Take a desk in the reading room for a reader at a time.',
    input_schema: object(['day', 'from'], {
      day: string('The day', { format: 'date' }),
      from: string('Start, HH:MM', { pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' }),
      silent: { type: ['boolean', 'null'], description: 'In the silent part' },
    }),
  },
  {
    name: 'end_loan',
    description: 'End a loan early.',
    input_schema: object(['loan_code'], { loan_code: string('Code of the loan', { pattern: '^L-\\d{4}$' }) }),
  },
];

const TAXI: Anthropic.Tool[] = [
  {
    name: 'order_ride',
    description: 'Order a taxi ride.',
    input_schema: object(['pickup', 'destination', 'pickup_at', 'passengers'], {
      pickup: string('Where the ride starts'),
      destination: string('Where to'),
      pickup_at: string('Pick-up time', { format: 'date-time' }),
      passengers: { type: 'integer', description: 'How many passengers' },
      child_seat: { anyOf: [{ type: 'boolean' }, { type: 'null' }], description: 'A child seat is needed' },
      car: string('Kind of car', { enum: ['standard', 'mini_van', 'luxury'] }),
      passenger_name: string('Name of the passenger'),
    }),
  },
  {
    name: 'send_receipt',
    description: 'Send the receipt of the last ride by e-mail.',
    input_schema: object(['address'], { address: string('Where to send it', { format: 'email' }) }),
  },
];

const ASK: Anthropic.Tool = {
  name: 'meta_one',
  input_schema: object(['question'], {
    question: { type: 'string' },
    missing: { type: 'array', items: { type: 'string' } },
    tool: { type: 'string' },
    arguments: { type: 'object' },
  }),
};
const DECLINE: Anthropic.Tool = {
  name: 'meta_two',
  input_schema: object(['reason'], { reason: { type: 'string' } }),
};

describe('planning with tools nobody has seen before', () => {
  let model: RunningModel;
  before(async () => {
    model = await startModel('demo');
  });
  after(() => model.close());

  const plan = async (
    tools: Anthropic.Tool[],
    said: string[],
    rest: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
  ) =>
    callOf(
      await model.client.messages.create({
        ...PLAIN,
        tools: [...tools, ASK, DECLINE],
        messages: dialogue(...said),
        ...rest,
      }),
    );
  const asked = (tool: string, missing: string[], question: string, found: object) => ({
    name: ASK.name,
    input: { question, missing, tool, arguments: found },
  });

  const DESK_ASKED = ['I want to take a desk', 'Which day and what time would you like?'];
  const ROOM_TALK = [
    'When is the reading room open on Saturday?',
    'On Saturday 5 December it is open from 09:00.',
  ];
  const RIDE = {
    pickup: 'Moda',
    destination: 'Airport',
    pickup_at: '2026-12-01T09:15:00+03:00',
    passengers: 3,
  };

  const understood: [string, Anthropic.Tool[], string[], string, object][] = [
    [
      'a day by its name',
      LIBRARY,
      ['When is the reading room open on Saturday?'],
      'reading_room',
      { day: '2026-12-05' },
    ],
    [
      'a choice by its word',
      LIBRARY,
      ['Is the room open on Friday morning?'],
      'reading_room',
      { day: '2026-12-04', half: 'morning' },
    ],
    [
      'the day after tomorrow',
      LIBRARY,
      ['Is the room open the day after tomorrow?'],
      'reading_room',
      { day: '2026-12-02' },
    ],
    [
      'today’s own date',
      LIBRARY,
      ['Is the reading room open on 30 November?'],
      'reading_room',
      { day: '2026-11-30' },
    ],
    [
      'day before month outside America',
      LIBRARY,
      ['is the room open on 05/12?'],
      'reading_room',
      { day: '2026-12-05' },
    ],
    [
      'a day of this or the next month',
      LIBRARY,
      ['reading room open on the 3rd?'],
      'reading_room',
      { day: '2026-12-03' },
    ],
    [
      'a clock time',
      LIBRARY,
      ['Take a desk tomorrow 10:30'],
      'take_desk',
      { day: '2026-12-01', from: '10:30' },
    ],
    [
      'a bare hour after "at"',
      LIBRARY,
      ['take a desk on Monday at 9'],
      'take_desk',
      { day: '2026-12-07', from: '09:00' },
    ],
    [
      'an evening hour',
      LIBRARY,
      ['take a desk today at 9pm'],
      'take_desk',
      { day: '2026-11-30', from: '21:00' },
    ],
    [
      'an hour in words',
      LIBRARY,
      ['take a desk tomorrow, half past ten'],
      'take_desk',
      { day: '2026-12-01', from: '10:30' },
    ],
    [
      'a wish that may be null',
      LIBRARY,
      ['take a silent desk tomorrow at 11'],
      'take_desk',
      { day: '2026-12-01', from: '11:00', silent: true },
    ],
    [
      'a quoted title and a number word',
      LIBRARY,
      ['Please renew "The Dispossessed" for two weeks'],
      'renew_loan',
      { title: 'The Dispossessed', weeks: 2 },
    ],
    ['a code of a fixed form', LIBRARY, ['End my loan l-2041, please'], 'end_loan', { loan_code: 'L-2041' }],
    [
      'a question to look up',
      LIBRARY,
      ['Search for books about whales'],
      'search_shelf',
      { query: 'Search for books about whales' },
    ],
    [
      'a whole order in one sentence',
      TAXI,
      [
        'I need a taxi from Moda to the Airport tomorrow at 9:15 for 3 people with a child seat, a mini van please',
      ],
      'order_ride',
      { ...RIDE, child_seat: true, car: 'mini_van' },
    ],
    [
      'a wish that is refused',
      TAXI,
      ['taxi ride from Moda to Airport tomorrow 09:15, 3 passengers, no child seat, for Ada Lovelace'],
      'order_ride',
      { ...RIDE, child_seat: false, passenger_name: 'Ada Lovelace' },
    ],
    [
      'an e-mail address',
      TAXI,
      ['Send my receipt to ada@example.com.'],
      'send_receipt',
      { address: 'ada@example.com' },
    ],
    [
      'the day that was talked about',
      LIBRARY,
      [...ROOM_TALK, 'Take a desk at 10:30 please'],
      'take_desk',
      { day: '2026-12-05', from: '10:30' },
    ],
    [
      'the answer to a question',
      LIBRARY,
      [...DESK_ASKED, 'Monday at 9'],
      'take_desk',
      { day: '2026-12-07', from: '09:00' },
    ],
    [
      'answers one by one',
      LIBRARY,
      [...DESK_ASKED, 'Monday', 'What time would you like?', '9'],
      'take_desk',
      { day: '2026-12-07', from: '09:00' },
    ],
    [
      'a bare name as an answer',
      LIBRARY,
      ['Renew my loan', 'Which one?', 'Dune, 3 weeks'],
      'renew_loan',
      { title: 'Dune', weeks: 3 },
    ],
    [
      'an elliptic follow-up',
      LIBRARY,
      [...ROOM_TALK, 'and on Sunday?'],
      'reading_room',
      { day: '2026-12-06' },
    ],
    [
      'the newer of two wishes',
      LIBRARY,
      [...ROOM_TALK, 'take a desk on Sunday at 10'],
      'take_desk',
      { day: '2026-12-06', from: '10:00' },
    ],
    [
      'a name given long before',
      TAXI,
      ['My name is Ada Lovelace', 'Hello Ada!', 'ride from Moda to Airport tomorrow 09:15 for 3 passengers'],
      'order_ride',
      RIDE,
    ],
  ];
  for (const [what, tools, said, name, input] of understood) {
    it(`understands ${what}`, async () => {
      const call = await plan(tools, said);
      assert.ok(typeof call === 'object', `answered ${JSON.stringify(call)}`);
      const given = entriesOf(call.input).filter(([, value]) => value !== null);
      assert.deepEqual({ name: call.name, input: Object.fromEntries(given) }, { name, input });
    });
  }

  it('fills what is required but may be null with null', async () => {
    const tool: Anthropic.Tool = {
      name: 'take_desk',
      description: 'Take a desk.',
      strict: true,
      input_schema: object(['day', 'silent'], {
        day: string('The day', { format: 'date' }),
        silent: { type: ['boolean', 'null'], description: 'In the silent part' },
      }),
    };
    assert.deepEqual(await plan([tool], ['take a desk tomorrow']), {
      name: 'take_desk',
      input: { day: '2026-12-01', silent: null },
    });
  });

  it('asks for everything that is missing in one question', async () => {
    assert.deepEqual(
      await plan(LIBRARY, ['take a desk for me']),
      asked('take_desk', ['day', 'from'], 'Which day and what time would you like?', {}),
    );
    assert.deepEqual(
      await plan(TAXI, ['Taxi to Kadıköy please']),
      asked(
        'order_ride',
        ['pickup', 'pickup_at', 'passengers'],
        'Which day, what time and how many passengers would you like? And please tell me where the ride starts.',
        { destination: 'Kadıköy' },
      ),
    );
  });

  it('asks again only for what an answer left open', async () => {
    assert.deepEqual(
      await plan(LIBRARY, [...DESK_ASKED, 'Monday']),
      asked('take_desk', ['from'], 'What time would you like?', { day: '2026-12-07' }),
    );
  });

  it('does not repeat an earlier agreement for a request that names nothing', async () => {
    const earlier = [
      ...ROOM_TALK,
      'Take a desk at 10:30 please',
      'Your desk on Saturday 5 December at 10:30 is yours.',
    ];
    assert.deepEqual(
      await plan(LIBRARY, [...earlier, 'take a desk for me']),
      asked('take_desk', ['day', 'from'], 'Which day and what time would you like?', {}),
    );
  });

  it('asks rather than choosing between two days that were talked about', async () => {
    const said = [
      'When is the reading room open?',
      'It is open on Saturday 5 December and on Sunday 6 December.',
    ];
    assert.deepEqual(
      await plan(LIBRARY, [...said, 'Take a desk at 10:30 please']),
      asked('take_desk', ['day'], 'Which day would you like?', { from: '10:30' }),
    );
  });

  it('takes a day from an earlier tool result, as a block and as labelled text', async () => {
    const found = JSON.stringify({ day: '2026-12-05', open: ['09:00', '17:00'] });
    const native = await model.client.messages.create({
      ...PLAIN,
      tools: LIBRARY,
      messages: [
        { role: 'user', content: 'When is the reading room open?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'reading_room', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: found }] },
        { role: 'assistant', content: 'All day.' },
        { role: 'user', content: 'Take a desk at 10:30' },
      ],
    });
    const expected = { name: 'take_desk', input: { day: '2026-12-05', from: '10:30' } };
    assert.deepEqual(callOf(native), expected);
    const labelled = `<tool_result tool="reading_room">${found}</tool_result>\nTake a desk at 10:30`;
    assert.deepEqual(await plan(LIBRARY, [labelled]), expected);
  });

  const DESK_TIMES = [
    ...ROOM_TALK.slice(0, 1),
    'On Saturday 5 December desks are free at 09:00, 10:30 and 11:00.',
  ];

  it('takes the one of several times that an ordinal names, and asks when none does', async () => {
    const chosen = { name: 'take_desk', input: { day: '2026-12-05', from: '10:30' } };
    assert.deepEqual(await plan(LIBRARY, [...DESK_TIMES, 'I take the second desk']), chosen);
    assert.deepEqual(
      await plan(LIBRARY, [...DESK_TIMES, 'take that desk for me']),
      asked('take_desk', ['from'], 'What time would you like?', { day: '2026-12-05' }),
    );
  });

  it('takes a bare time as a choice among what was offered', async () => {
    const call = { name: 'take_desk', input: { day: '2026-12-05', from: '10:30' } };
    assert.deepEqual(await plan(LIBRARY, [...DESK_TIMES, '10:30']), call);
  });

  it('looks first when a question says too little to act', async () => {
    const call = { name: 'reading_room', input: { day: '2026-12-01' } };
    assert.deepEqual(await plan(LIBRARY, ['Do you have a desk tomorrow?']), call);
  });

  it('reads data in a message of its own as data, not as the customer’s words', async () => {
    const [last, ...before] = dialogue(...DESK_ASKED, 'on Monday').reverse();
    assert.ok(last);
    const data = [
      '<tool_result tool="take_desk">Your desk on Saturday 5 December at 10:30 is yours.</tool_result>',
      '<question_we_asked tool="take_desk">missing: day, from. Arguments so far: {}</question_we_asked>',
    ].join('\n');
    const message = await model.client.messages.create({
      ...PLAIN,
      tools: [...LIBRARY, ASK, DECLINE],
      messages: [...before.reverse(), { role: 'user', content: data }, last],
    });
    assert.deepEqual(
      callOf(message),
      asked('take_desk', ['from'], 'What time would you like?', { day: '2026-12-07' }),
    );
  });

  it('never takes a tool that refuses requests for one that does something', async () => {
    const refuse: Anthropic.Tool = {
      name: 'meta_three',
      description: 'Refuses a request that is harmful.',
      input_schema: object(['reason', 'harm'], {
        reason: { type: 'string' },
        harm: { type: 'string', enum: ['harmful'] },
      }),
    };
    const messages = dialogue('I refuse your harmful request');
    const message = await model.client.messages.create({
      ...PLAIN,
      tools: [...LIBRARY, ASK, DECLINE, refuse],
      messages,
    });
    assert.equal(fieldOf(callOf(message), 'name'), DECLINE.name);
  });

  it('asks in plain text, JSON text or without details, as the asking tool allows', async () => {
    const said = { ...PLAIN, messages: dialogue('take a desk for me') };
    const plain = await model.client.messages.create({ ...said, tools: LIBRARY });
    assert.equal(textOf(plain), 'Which day and what time would you like?');
    assert.equal(plain.stop_reason, 'end_turn');
    const short: Anthropic.Tool = {
      name: 'q',
      input_schema: object(['question'], { question: { type: 'string' } }),
    };
    assert.deepEqual(callOf(await model.client.messages.create({ ...said, tools: [...LIBRARY, short] })), {
      name: 'q',
      input: { question: 'Which day and what time would you like?' },
    });
    const json: Anthropic.Tool = {
      name: 'q',
      input_schema: object(['question'], { question: { type: 'string' }, arguments: { type: 'string' } }),
    };
    const call = callOf(await model.client.messages.create({ ...said, tools: [...LIBRARY, json] }));
    assert.deepEqual(call, {
      name: 'q',
      input: { question: 'Which day and what time would you like?', arguments: '{}' },
    });
  });

  for (const said of ['Hello', 'thanks a lot', 'tell me a joke', 'okay', 'what did I say before?']) {
    it(`calls no tool for "${said}"`, async () => {
      const call = await plan(LIBRARY, [...ROOM_TALK, said]);
      assert.ok(typeof call === 'object');
      assert.equal(call.name, DECLINE.name);
      const message = await model.client.messages.create({
        ...PLAIN,
        tools: LIBRARY,
        messages: dialogue(said),
      });
      assert.equal(message.stop_reason, 'end_turn');
      assert.notEqual(textOf(message), '');
    });
  }

  it('follows tool_choice', async () => {
    const named = await plan(LIBRARY, ['Hello'], { tool_choice: { type: 'tool', name: 'take_desk' } });
    assert.ok(typeof named === 'object');
    assert.equal(named.name, 'take_desk');
    const none = await plan(LIBRARY, ['take a desk tomorrow at 9'], { tool_choice: { type: 'none' } });
    assert.equal(typeof none, 'string');
  });
});

function entriesOf(input: unknown): [string, unknown][] {
  return typeof input === 'object' && input !== null ? Object.entries(input) : [];
}
