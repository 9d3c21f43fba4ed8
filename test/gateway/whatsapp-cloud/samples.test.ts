// Webhooks of public libraries, from outside the tree; where they lie is told by AROKO_TEST_DATA.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { numbersIn, webhooksIn, type Found } from '../../../bench/webhooks/find.js';
import { cloudAccount, startCloud, type Answer, type Cloud } from './cloud.js';
import { skipAloud } from '../../support/skip.js';

const DATA = join(process.env['AROKO_TEST_DATA'] ?? join('..', 'shared', 'data'), 'whatsapp');

function samples(): { file: string; found: Found[] }[] {
  return readdirSync(DATA, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      try {
        return [{ file, found: webhooksIn(JSON.parse(readFileSync(join(DATA, file), 'utf8'))) }];
      } catch {
        return [];
      }
    })
    .filter(({ found }) => found.length > 0);
}

describe('webhooks as other libraries have recorded them', function () {
  this.timeout(120_000);
  let cloud: Cloud;
  let all: ReturnType<typeof samples>;

  before(async function () {
    if (!existsSync(DATA)) skipAloud(this, `no samples at ${DATA}: set AROKO_TEST_DATA`);
    all = samples();
    cloud = await startCloud();
    const { shop } = cloud;
    const numbers = [...numbersIn(all.flatMap(({ found }) => found))];
    shop.configuration = {
      ...shop.configuration,
      channels: {
        ...shop.configuration.channels,
        whatsapp: numbers.map((number) => cloudAccount(number, 'shop')),
      },
    };
    await cloud.inScope(shop.tenantId, (scope) =>
      scope.tx.channelAccount.createMany({
        data: numbers.map((accountKey) => ({
          id: crypto.randomUUID(),
          tenantId: shop.tenantId,
          channel: 'whatsapp-cloud',
          accountKey,
        })),
      }),
    );
  });
  after(() => cloud?.stop());

  it('are all taken, each part once: in the inbox with an end, or as an event', async () => {
    const total: Omit<Answer, 'refused'> & { refused: number } = {
      accepted: 0,
      stored: 0,
      duplicates: 0,
      echoes: 0,
      refused: 0,
      statuses: 0,
      statusesUnmatched: 0,
      events: 0,
    };
    for (const { file, found } of all) {
      for (const { place, webhook } of found) {
        const { status, json } = await cloud.post(webhook);
        assert.equal(status, 200, `${file} ${place}`);
        const { refused, ...counts } = json;
        const codes = Object.keys(refused);
        // Recorded samples reuse ids for other messages; nothing else is refused.
        assert.deepEqual(
          codes.filter((code) => code !== 'conflict'),
          [],
          `${file} ${place}`,
        );
        total.refused += Object.values(refused).reduce((sum, count) => sum + count, 0);
        for (const key of Object.keys(counts) as (keyof typeof counts)[]) total[key] += counts[key] ?? 0;
      }
    }
    const rows = await cloud.stored();
    const open = rows.filter(({ state }) => state === 'accepted');
    // All of them are years old.
    assert.deepEqual(
      open.map(({ externalId }) => externalId),
      [],
    );
    assert.equal(rows.length, total.stored);
    assert.ok(rows.every(({ reason }) => reason !== null));
    assert.ok(all.length >= 30 && rows.length >= 20, `${all.length} files, ${rows.length} messages`);
    // The same once more changes nothing.
    const events = (await cloud.events()).length;
    for (const { found } of all) for (const { webhook } of found) await cloud.post(webhook);
    assert.equal((await cloud.stored()).length, rows.length);
    assert.equal((await cloud.events()).length, events);
  });

  it('leave words that a person can read, and nothing that nobody understands', async () => {
    const rows = await cloud.stored();
    assert.deepEqual(
      rows.filter(({ text, state }) => !text && state !== 'ignored'),
      [],
    );
    const kinds = new Set(rows.map(({ kind }) => kind));
    for (const kind of ['text', 'image', 'location', 'order', 'contacts', 'system', 'edit', 'form'])
      assert.ok(kinds.has(kind), kind);
  });
});
