import type Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { PLAIN, startModel, textOf, type RunningModel } from './model-server.js';

const ID = '3f2b1c9e-1111-4222-8333-444455556666';

describe('results told as messages', () => {
  let model: RunningModel;
  before(async () => {
    model = await startModel('demo');
  });
  after(() => model.close());

  const tell = async (content: string, rest: object = {}): Promise<string> => {
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: 'please' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'anything', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content, ...rest }] },
    ];
    return textOf(await model.client.messages.create({ ...PLAIN, messages }));
  };

  const told: [string, unknown, string][] = [
    [
      'a list of times on a day',
      { date: '2026-12-05', freeSlots: ['09:00', '10:30', '11:00'] },
      'Saturday 5 December: free slots are 09:00, 10:30 and 11:00.',
    ],
    ['an empty list', { date: '2026-12-05', free_slots: [] }, 'Saturday 5 December: free slots: nothing.'],
    [
      'a state, a length and an id',
      { loanId: ID, state: 'not_ready', date: '2027-12-05', time: '10:30', durationMinutes: 30 },
      'Sunday 5 December 2027, 10:30: state is not ready; duration is 30 minutes.',
    ],
    [
      'a list of records',
      {
        rides: [
          { date: '2026-12-05', time: '10:30', id: ID, to: 'Moda' },
          { date: '2026-12-06', time: '11:00', to: 'Airport' },
        ],
      },
      'Rides are Saturday 5 December, 10:30 Moda and Sunday 6 December, 11:00 Airport.',
    ],
    [
      'a nested record and an instant',
      { open: true, startsAt: '2026-12-05T07:30:00Z', place: { name: 'Moda', floor: 2 } },
      'Open: yes; starts at Saturday 5 December, 10:30; place: name Moda, floor 2.',
    ],
    [
      'its own summary',
      { id: ID, summary: 'Your loan ends on Friday', extra: 1 },
      'Your loan ends on Friday.',
    ],
    ['plain text', 'All good', 'All good.'],
    ['nothing at all', {}, 'That is done.'],
    ['no rows', [], 'I found nothing.'],
  ];
  for (const [what, value, sentence] of told) {
    it(`tells ${what}`, async () => {
      assert.equal(await tell(typeof value === 'string' ? value : JSON.stringify(value)), sentence);
    });
  }

  it('apologises for a failure and gives its reason', async () => {
    const failure = JSON.stringify({ message: 'that book is on loan' });
    assert.equal(
      await tell(failure, { is_error: true }),
      "I'm sorry, that didn't work. That book is on loan.",
    );
    assert.equal(await tell('E_409', { is_error: true }), "I'm sorry, that didn't work.");
  });

  it('reads a result that is labelled in the text', async () => {
    const content = `Tell the customer.\n<tool_result tool="x">${JSON.stringify({ open: ['09:00'] })}</tool_result>`;
    const message = await model.client.messages.create({ ...PLAIN, messages: [{ role: 'user', content }] });
    assert.equal(textOf(message), 'Open 09:00.');
  });
});
