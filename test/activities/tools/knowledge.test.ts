// From Markdown pages to an answer with its source, on a real Postgres.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cutPage } from '../../../activities/tools/knowledge/cut-page.js';
import { ingestKnowledge } from '../../../activities/tools/knowledge/ingest.js';
import { createKnowledge } from '../../../activities/tools/knowledge/provider.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { addTenant } from '../../support/tenants.js';
import {
  businessWith,
  operationOf,
  startToolBench,
  summaryOf,
  toolCall,
  type ToolBench,
} from '../../support/tool-calls.js';

describe('a page', () => {
  const cut = (markdown: string, passageCharacters = 800) =>
    cutPage(markdown, { passageCharacters, fallbackTitle: 'Fallback' });

  it('is cut at its headings, which stay as a path', () => {
    const passages = cut(
      '# Repairs\n\nIntro.\n\n## Punctures\n\nFast.\n\n### Tubeless\n\nSlow.\n\n## Brakes\n\nSafe.',
    );
    assert.deepEqual(
      passages.map(({ title, heading, body }) => [title, heading, body]),
      [
        ['Repairs', 'Repairs', 'Intro.'],
        ['Repairs', 'Repairs › Punctures', 'Fast.'],
        ['Repairs', 'Repairs › Punctures › Tubeless', 'Slow.'],
        ['Repairs', 'Repairs › Brakes', 'Safe.'],
      ],
    );
  });

  it('becomes plain text: no markup, a link by its words, a table by its rows', () => {
    const [passage] = cut(
      [
        '# T',
        'A *b* `c` [d](https://example.com) &amp; "e" it\'s <b>f</b>\ng',
        '- one\n  - two\n- three',
        '| Bike | Half | Day |\n| - | - | - |\n| City | 3 | 5 |\n| Seat | | 8 |',
        '| Work | Price |\n| - | - |\n| Puncture | 35 |',
        '<!-- nobody reads this -->',
      ].join('\n\n'),
    );
    assert.deepEqual(passage?.body.split('\n'), [
      'A b c d & "e" it\'s f g',
      'one',
      'two',
      'three',
      'City: Half 3, Day 5',
      'Seat: Day 8',
      'Puncture: 35',
    ]);
  });

  it('is cut between paragraphs, then sentences, then words, and nothing is lost', () => {
    const paragraph = 'One sentence here. Another sentence there. A third one follows.';
    const passages = cut(`# T\n\n${paragraph}\n\n${'word '.repeat(60)}\n\nEnd.`, 50);
    assert.ok(passages.every(({ body }) => body.length <= 50));
    assert.ok(passages.some(({ body }) => body === 'One sentence here. Another sentence there.'));
    assert.equal(
      passages
        .map(({ body }) => body)
        .join(' ')
        .match(/word/g)?.length,
      60,
    );
  });

  it('without a heading has the title of its file, and without words no passage', () => {
    assert.equal(cut('Just text.')[0]?.heading, 'Fallback');
    assert.deepEqual(cut('# Only a heading\n\n---\n'), []);
  });
});

describe('the knowledge provider', function () {
  this.timeout(30_000);
  let bench: ToolBench;
  let folder: string;
  before(async () => {
    bench = await startToolBench();
  });
  after(() => bench.close());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aroko-pages-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const source = (tenantId = bench.tenantId, language = 'en') => ({
    tenantId,
    folder,
    language,
    passageCharacters: 800,
  });
  const ask = (
    question: string,
    options: { folder?: string; tenantId?: string; language?: string } = {},
  ): Promise<JsonObject> => {
    const { language = 'en', tenantId = bench.tenantId } = options;
    const provider = createKnowledge({ inScope: bench.inScope, folderOf: () => options.folder ?? folder });
    const configuration = businessWith({ business: { language } });
    return operationOf(provider, 'search').call(
      toolCall({ tenantId }, { query: question }, { configuration }),
    );
  };
  const rows = (tenantId = bench.tenantId): Promise<{ file: string; heading: string }[]> =>
    bench.database.inTenant(tenantId, (tx) => tx.knowledgePassage.findMany({ orderBy: [{ file: 'asc' }] }));

  it('ingests once, replaces what has changed and removes what is gone', async () => {
    const { tenantId } = await addTenant(bench.database);
    await writeFile(join(folder, 'a.md'), '# A\n\nApples.');
    await writeFile(join(folder, 'b.md'), '# B\n\nBananas.\n\n## More\n\nBerries.');
    await writeFile(join(folder, 'notes.txt'), 'no page');
    await mkdir(join(folder, 'drafts'));
    assert.deepEqual(await ingestKnowledge(bench.inScope, source(tenantId)), {
      stored: ['a.md', 'b.md'],
      removed: [],
    });
    assert.deepEqual(await ingestKnowledge(bench.inScope, source(tenantId)), { stored: [], removed: [] });
    await writeFile(join(folder, 'a.md'), '# A\n\nApricots.');
    await rm(join(folder, 'b.md'));
    assert.deepEqual(await ingestKnowledge(bench.inScope, source(tenantId)), {
      stored: ['a.md'],
      removed: ['b.md'],
    });
    assert.deepEqual(
      (await rows(tenantId)).map(({ file }) => file),
      ['a.md'],
    );
    const inTurkish = await ingestKnowledge(bench.inScope, source(tenantId, 'tr'));
    assert.deepEqual(inTurkish.stored, ['a.md'], 'other words in another language');
  });

  it('ingests the same pages once when several workers start at the same time', async () => {
    const { tenantId } = await addTenant(bench.database);
    await writeFile(join(folder, 'a.md'), '# A\n\nApples.\n\n## Two\n\nPears.');
    const all = await Promise.all(
      Array.from({ length: 6 }, () => ingestKnowledge(bench.inScope, source(tenantId))),
    );
    assert.equal(all.filter(({ stored }) => stored.length > 0).length, 1);
    assert.equal((await rows(tenantId)).length, 2);
  });

  it('answers from the shipped pages with the sentence that fits and its source', async () => {
    const shipped = { folder: 'config/tenants/harbour-desk/knowledge' };
    const questions: [question: string, says: RegExp, file: string][] = [
      ['How much is a puncture repair?', /Puncture repair, tube included: ₺350/, 'prices.md'],
      ['what does a full service cost', /Full service.*₺2,800/, 'prices.md'],
      ['how long is the warranty on a repair', /six months/, 'warranty.md'],
      ['deposit for a rental e-bike', /deposit of ₺1,000.*₺3,000/, 'rental.md'],
      ['how do I get there from the ferry', /turn left along the water/, 'getting-here.md'],
      ['where can I park my car', /car park behind the fish market/, 'getting-here.md'],
      ['do you repair electric bikes?', /electric bikes of every make/, 'repairs.md'],
      ['can I cancel my appointment', /no charge/, 'appointments.md'],
    ];
    for (const [question, says, file] of questions) {
      const result = await ask(question, shipped);
      const [citation] = result['citations'] as { file: string; heading: string }[];
      assert.match(summaryOf(result), says, question);
      assert.equal(citation?.file, file, question);
      assert.ok(summaryOf(result).endsWith(`(${citation.heading})`), question);
      assert.ok(summaryOf(result).length < 400);
    }
  });

  it('says that the pages say nothing, rather than something near', async () => {
    const shipped = { folder: 'config/tenants/harbour-desk/knowledge' };
    for (const question of [
      'what is the capital of France',
      'sell spaceships to astronauts please',
      '???',
      '"',
    ]) {
      const result = await ask(question, shipped);
      assert.equal(result['summary'], 'Our pages say nothing about that.', question);
      assert.deepEqual(result['citations'], []);
    }
  });

  it('takes quotes, minus signs and operators as words, never as a broken query', async () => {
    await writeFile(
      join(folder, 'a.md'),
      "# A\n\nIt's 5 o'clock & we <b>sell</b> tea | coffee at a.example/x?y=1&z=2.",
    );
    for (const question of [
      "o'clock & tea",
      '!!! tea | <->',
      "tea'); drop table inbox; --",
      'a.example/x?y=1&z=2 "tea',
      '\\tea\\',
    ]) {
      const result = await ask(question);
      assert.match(summaryOf(result), /clock|nothing/, question);
    }
    assert.match(summaryOf(await ask('tea')), /coffee/);
  });

  it('knows the endings of the language of the pages, and none where it knows no language', async () => {
    const turkish = await addTenant(bench.database);
    await writeFile(join(folder, 'a.md'), '# Fiyatlar\n\nLastik tamirleri yarım saat sürer.');
    const found = await ask('tamir kaç saat', { tenantId: turkish.tenantId, language: 'tr' });
    assert.match(summaryOf(found), /yarım saat/);
    const yoruba = await addTenant(bench.database);
    const none = await ask('tamir', { tenantId: yoruba.tenantId, language: 'yo' });
    assert.equal(none['summary'], 'Our pages say nothing about that.');
    assert.match(summaryOf(await ask('tamirleri', { tenantId: yoruba.tenantId, language: 'yo' })), /Lastik/);
  });

  it("never finds another business's pages", async () => {
    const other = await addTenant(bench.database);
    await writeFile(join(folder, 'a.md'), '# Secret\n\nPineapples in the cellar.');
    await ask('pineapples');
    const result = await ask('pineapples', {
      tenantId: other.tenantId,
      folder: join(folder, 'nothing-here'),
    });
    assert.deepEqual(result['passages'], []);
  });

  it('quotes no more than fits, whole sentences first', async () => {
    const long = Array.from(
      { length: 12 },
      (_, number) => `Sentence ${number} is about elephants in the garden.`,
    );
    await writeFile(join(folder, 'a.md'), `# E\n\n${long.join(' ')}`);
    const summary = summaryOf(await ask('elephants'));
    assert.ok(summary.length <= 280 + ' (E)'.length);
    assert.match(summary, /garden\. \(E\)$/);
  });
});
