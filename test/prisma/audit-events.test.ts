// Lines that are written together with what they tell of.
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { openDatabase, type Database, type Tx } from '../../prisma/database.js';
import { noteConfigurations } from '../../prisma/stores/active-configuration.js';
import { recordModelCall, type ModelCall } from '../../prisma/stores/model-calls.js';
import { freshDatabase } from '../support/postgres.js';
import { acceptTextWithRetry, addTenant, testContent, type TestTenant } from '../support/tenants.js';

describe('what is audited', () => {
  let database: Database;
  let tenant: TestTenant;
  const content = testContent();
  before(async () => {
    const urls = await freshDatabase();
    database = openDatabase({ url: urls.applicationUrl, poolSize: 6 });
    tenant = await addTenant(database);
  });
  after(() => database.close());

  const inTenant = <Result>(work: (tx: Tx) => Promise<Result>) => database.inTenant(tenant.tenantId, work);
  const linesOf = (stream: string) =>
    inTenant((tx) => tx.audit.findMany({ where: { stream }, orderBy: { number: 'asc' } }));

  it('has every call of a model, failed ones too, exactly if its row is there', async () => {
    const desk = { prisma: database.prisma, content, account: tenant };
    const accepted = await acceptTextWithRetry(desk, { externalId: 'm1', text: 'Hello', address: 'anna' });
    assert.ok(accepted.outcome === 'accepted');
    const { chatId } = accepted;
    const record = (call: Partial<ModelCall>, { fails = false } = {}) =>
      inTenant(async (tx) => {
        await recordModelCall(
          { tx, tenantId: tenant.tenantId, content },
          {
            chatId,
            turnId: turn,
            purpose: 'plan',
            model: 'a-model-1',
            outcome: 'ok',
            inputTokens: 120,
            outputTokens: 30,
            latencyMs: 850,
            ...call,
          },
        );
        if (fails) throw new Error('rolled back');
      });
    const turn = randomUUID();
    await inTenant((tx) =>
      tx.turn.create({
        data: { id: turn, tenantId: tenant.tenantId, chatId, firstSequence: 1, upTo: 1, state: 'claimed' },
      }),
    );
    await record({});
    await record({ outcome: 'ModelOverloaded', inputTokens: 0, outputTokens: 0 });
    await assert.rejects(record({}, { fails: true }), /rolled back/);

    const rows = await inTenant((tx) =>
      tx.modelCall.findMany({ where: { chatId }, orderBy: { calledAt: 'asc' } }),
    );
    const lines = await linesOf(chatId);
    assert.deepEqual(
      lines.map(({ event, subjectId, actor, facts }) => ({ event, subjectId, actor, facts })),
      rows.map(({ purpose, model, outcome, inputTokens, outputTokens, latencyMs }) => ({
        event: 'model_called',
        subjectId: turn,
        actor: 'assistant',
        facts: { purpose, model, outcome, inputTokens, outputTokens, latencyMs },
      })),
    );
    assert.deepEqual(
      rows.map(({ outcome, inputTokens, latencyMs }) => [outcome, inputTokens, latencyMs]),
      [
        ['ok', 120, 850],
        ['ModelOverloaded', 0, 850],
      ],
    );
  });

  it('has the configuration that became active, once however many processes start with it', async () => {
    const note = (hash: string, actor: 'gateway' | 'worker') =>
      noteConfigurations(database, { tenants: [{ slug: tenant.slug, hash }], actor });
    await Promise.all([note('aaa', 'gateway'), note('aaa', 'worker'), note('aaa', 'worker')]);
    await note('aaa', 'gateway');
    await note('bbb', 'gateway');
    await note('bbb', 'worker');
    assert.deepEqual(await note('aaa', 'worker'), { noted: 1 });
    const lines = (await linesOf('tenant')).filter(({ event }) => event === 'configuration_active');
    assert.deepEqual(
      lines.map(({ facts }) => facts),
      [{ configHash: 'aaa' }, { configHash: 'bbb' }, { configHash: 'aaa' }],
    );
    const stranger = { slug: 'nobody-knows-it', hash: 'ccc' };
    assert.deepEqual(await noteConfigurations(database, { tenants: [stranger], actor: 'worker' }), {
      noted: 0,
    });
  });
});
