// Which tools the turn gates lay before the planner: those open to this speaker in this kind of chat, and never many.
import assert from 'node:assert/strict';
import { detection } from '../../../activities/turns/gates/detection.js';
import { followUp } from '../../../activities/turns/gates/follow-up.js';
import { openQuestion } from '../../../activities/turns/gates/open-question.js';
import { privateAccount } from '../../../activities/turns/gates/private-account.js';
import type { GateOutcome, TurnContext, TurnGate } from '../../../activities/turns/turn-context.js';
import type { ToolDefinition } from '../../../workflows/domain/tool.js';
import { startDesk, type Desk } from '../../support/desk.js';

const MOST = 8;

describe('the tools that a turn is offered', function () {
  this.timeout(60_000);
  let desk: Desk;
  before(async () => {
    desk = await startDesk({
      configure: (shipped) => {
        const [template = assert.fail()] = shipped.tools;
        const tool = (name: string, own: Partial<ToolDefinition>): ToolDefinition => ({
          ...template,
          name,
          aliases: [],
          description: 'Polishes a lantern.',
          triggerPhrases: ['polish my lantern'],
          examples: ['Polish my lantern'],
          privateData: true,
          ...own,
        });
        const open = Array.from({ length: MOST + 2 }, (_, index) => tool(`lantern_${index}`, {}));
        return {
          ...shipped,
          tools: [
            tool('owners_lantern', { actors: ['owner'] }),
            tool('group_lantern', { chatKinds: ['group'] }),
            tool('dark_lantern', { enabled: false }),
            ...open,
          ],
        };
      },
    });
  });
  after(async () => {
    await desk.stop();
  });

  const decide = (
    gate: TurnGate,
    about: Partial<TurnContext>,
    limits: { modelCallsPerChatAndDay?: number } = {},
  ): Promise<GateOutcome | undefined> =>
    desk.inScope(desk.tenantId, async (scope) => {
      const tenant = await desk.deps.tenants.byId(desk.tenantId);
      const { configuration } = tenant;
      const id = '00000000-0000-4000-8000-000000000001';
      return gate.decide({
        scope,
        tenant: {
          ...tenant,
          configuration: { ...configuration, limits: { ...configuration.limits, ...limits } },
        },
        chat: {
          chatId: id,
          contactId: id,
          accountId: id,
          channel: 'web',
          accountKey: 'web',
          kind: 'direct',
          isPaused: false,
        },
        turnId: id,
        actor: 'customer',
        messages: [],
        text: '',
        question: undefined,
        contexts: [],
        ...about,
      });
    });
  const question = (tool: string | null): TurnContext['question'] => ({
    questionId: 'q',
    turnId: 't',
    kind: 'missing',
    tool,
    missing: [],
    arguments: {},
    isTainted: false,
  });
  const context = (tool: string): TurnContext['contexts'] => [
    { contextId: 'c', tool, content: '', isTainted: false, createdAt: new Date() },
  ];
  const open = Array.from({ length: MOST }, (_, index) => `lantern_${index}`);

  for (const [name, gate, about] of [
    ['a question of ours that named none', openQuestion, { question: question(null) }],
    ['a private account', privateAccount, { text: 'What is my balance?' }],
    ['the detector', detection, { text: 'Please polish my lantern' }],
  ] as const) {
    it(`are this customer's, at most eight, after ${name}`, async () => {
      const outcome = await decide(gate, about);
      assert.equal(outcome?.kind, 'tools');
      assert.deepEqual([...(outcome?.kind === 'tools' ? outcome.candidates : [])].sort(), open);
    });
  }

  for (const tool of ['owners_lantern', 'group_lantern', 'dark_lantern', 'gone_lantern']) {
    it(`never hold ${tool}, whether we asked about it or it has just answered`, async () => {
      assert.equal(await decide(openQuestion, { question: question(tool) }), undefined);
      const about = { contexts: context(tool), text: 'What about Sunday?' };
      assert.equal(await decide(followUp, about), undefined);
    });
  }

  it('follow up on a tool that is open to the customer', async () => {
    const about = { contexts: context('lantern_9'), text: 'What about Sunday?' };
    const outcome = await decide(followUp, about);
    assert.deepEqual(outcome?.kind === 'tools' && outcome.candidates, ['lantern_9']);
  });

  it('are none for a private account once the day’s model calls are used up', async () => {
    const about = { text: 'What is my balance?' };
    const outcome = await decide(privateAccount, about, { modelCallsPerChatAndDay: 0 });
    assert.equal(outcome?.kind, 'handOff');
    assert.equal(outcome?.because, '0 model calls today');
  });

  it('come with the scores by which they were chosen, a live result counted', async () => {
    const text = 'Polish my lantern';
    const scoreOf = async (contexts: TurnContext['contexts']): Promise<number | undefined> => {
      const outcome = await decide(detection, { text, contexts });
      const ranking = outcome?.kind === 'tools' ? outcome.ranking : undefined;
      return ranking?.find(({ tool }) => tool === 'lantern_0')?.score;
    };
    const [fresh = assert.fail(), later = assert.fail()] = [
      await scoreOf([]),
      await scoreOf(context('lantern_0')),
    ];
    assert.ok(later > fresh);
  });
});
