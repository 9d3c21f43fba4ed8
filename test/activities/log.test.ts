// The log of a whole run: every stage once, all under one correlation id, and no content anywhere.
import assert from 'node:assert/strict';
import { startDesk, type Desk } from '../support/desk.js';

const ONCE = [
  'message.accepted',
  'turn.prepared',
  'AgentToolCandidate',
  'AgentToolJobEnqueued',
  'AgentToolPlannerStart',
  'AgentToolPlannerResult',
  'AgentToolPlanAccepted',
  'AgentToolImmediateStart',
  'AgentToolExecutionSucceeded',
  'AgentToolContextStored',
  'run.concluded',
];

describe('the log of a run', function () {
  this.timeout(60_000);
  let desk: Desk;
  let lines: Record<string, unknown>[];
  let correlationId: string;
  before(async () => {
    desk = await startDesk();
    const id = await desk.send('ada', 'Book Friday at 14:30 please. It squeaks like a zebrafinch.');
    const { ref, turnId } = await desk.openApproval();
    await desk.decide(ref, 'approve');
    await desk.settled(id);
    correlationId = turnId;
    lines = desk.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  });
  after(async () => {
    await desk.stop();
  });

  for (const name of ONCE) {
    it(`holds ${name} once, with the correlation id`, () => {
      const found = lines.filter((line) => line['event'] === name && line['correlationId'] === correlationId);
      assert.equal(found.length, 1);
      assert.equal(lines.filter((line) => line['event'] === name).length, 1, 'and not without it');
    });
  }

  it('names the tool, the rule and how long it took', () => {
    const of = (name: string): Record<string, unknown> => lines.find((line) => line['event'] === name) ?? {};
    assert.equal(of('AgentToolPlanAccepted')['rule'], 'effects-need-an-owner');
    assert.equal(typeof of('AgentToolExecutionSucceeded')['toolName'], 'string');
    assert.equal(typeof of('AgentToolPlannerResult')['latencyMs'], 'number');
    assert.equal(of('AgentToolCandidate')['actorRole'], 'customer');
  });

  it('tells of both model calls and both deliveries', () => {
    const purposes = lines.filter((line) => line['event'] === 'model.called').map((line) => line['purpose']);
    assert.deepEqual(purposes, ['plan', 'summarize']);
    assert.equal(lines.filter((line) => line['event'] === 'outbox.settled').length, 2);
  });

  it('holds no word of the customer', () => {
    assert.equal(desk.logLines.filter((line) => /zebrafinch|squeak|14:30/.test(line)).length, 0);
  });
});
