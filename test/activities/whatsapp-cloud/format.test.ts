import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toWhatsApp } from '../../../activities/whatsapp-cloud/format.js';

const TABLE: [what: string, markdown: string, said: string][] = [
  [
    'bold, italic, struck and code',
    '**a** and *b* and _c_ and ~~d~~ and `e_f`',
    '*a* and _b_ and _c_ and ~d~ and `e_f`',
  ],
  ['bold within italic and the other way round', '**a *b* c** ***d***', '*a _b_ c* _*d*_'],
  ['a heading in bold, without marks inside', '## Opening **hours**', '*Opening hours*'],
  ['a heading that is underlined', 'Hours\n===', '*Hours*'],
  ['paragraphs, and no more than one line between them', 'a\n\n\n\nb', 'a\n\nb'],
  ['a line break, soft or hard', 'a\nb  \nc<br>d', 'a\nb\nc\nd'],
  ['a list', '* a\n* **b**\n  * c', '- a\n- *b*\n  - c'],
  ['a loose list', '- a\n\n- b', '- a\n- b'],
  ['a numbered list, from where it starts', '3. a\n4. b', '3. a\n4. b'],
  ['a list of tasks', '- [x] a\n- [ ] b', '- ☑ a\n- ☐ b'],
  ['a quote', '> a\n> b', '> a\n> b'],
  ['code in lines', '```js\na_b = *c*\n```', '```\na_b = *c*\n```'],
  ['a table line by line', '| Day | Hours |\n|--|--|\n| Mon | **9–17** |', '*Day | Hours*\nMon | *9–17*'],
  ['a rule', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
  [
    'a link as its words and its address',
    'see [our page](https://a.example/x_y_z)',
    'see our page (https://a.example/x_y_z)',
  ],
  ['a link that is its own words once', '[https://a.example](https://a.example)', 'https://a.example'],
  [
    'an address that stands for itself',
    '<https://a.example/x_y> or https://b.example/_c_*d*',
    'https://a.example/x_y or https://b.example/_c_*d*',
  ],
  [
    'a bold address without the marks that would become part of it',
    '**https://a.example/x_y**',
    'https://a.example/x_y',
  ],
  ['a mail address', 'write to [us](mailto:a_b@a.example)', 'write to us (a_b@a.example)'],
  [
    'a picture as its words and its address',
    '![the shop](https://a.example/p.png)',
    'the shop (https://a.example/p.png)',
  ],
  ['underscores in words', 'snake_case_name and __init__x', 'snake_case_name and __init__x'],
  ['a sum', '2*3*4 = 24, and 5 * 3 * 2', '2*3*4 = 24, and 5 * 3 * 2'],
  ['marks in the middle of a word not at all', 'Not**e** this', 'Note this'],
  ['marks that were escaped', '\\*not bold\\*', '*not bold*'],
  ['entities', 'a &amp; b &lt; c', 'a & b < c'],
  ['plain text', 'Yes, 15:30 is free. 1) come 2) bring it', 'Yes, 15:30 is free. 1) come 2) bring it'],
  ['other letters', 'Fiyatı **₺250**, **şimdi** alın', 'Fiyatı *₺250*, *şimdi* alın'],
  ['a phone number', '+905550001122', '+905550001122'],
  ['an unfinished mark', 'a **b and `c', 'a **b and `c'],
];

describe('Markdown on WhatsApp', () => {
  for (const [what, markdown, said] of TABLE) {
    it(`says ${what}`, () => assert.equal(toWhatsApp(markdown), said));
  }

  const word = fc.stringMatching(/^[a-z]{1,6}(_[a-z]{1,6}){0,3}$/);
  const address = fc
    .tuple(word, fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/), fc.stringMatching(/^[a-z0-9_]{1,10}$/))
    .map(([host, path, value]) => `https://${host.replaceAll('_', '-')}.example/${path}?q=${value}`);

  it('never changes an address or a word with underscores, whatever stands around them', () => {
    const around = fc.constantFrom(
      (it: string) => it,
      (it: string) => `**${it}**`,
      (it: string) => `*${it}*`,
      (it: string) => `~~${it}~~`,
      (it: string) => `- ${it}`,
      (it: string) => `# ${it}`,
      (it: string) => `> ${it}`,
      (it: string) => `| a |\n|--|\n| ${it} |`,
      (it: string) => `[here](${it})`,
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(word, address), around), { minLength: 1, maxLength: 6 }),
        (pieces) => {
          const said = toWhatsApp(pieces.map(([piece, wrap]) => wrap(piece)).join('\n\n'));
          for (const [piece] of pieces) assert.ok(said.includes(piece), `${piece} in ${said}`);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('loses no letter of any text', () => {
    const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('ab1ş 漢*_~`-\n#>[]()!|\\')), maxLength: 60 }),
        (text) => {
          const said = letters(toWhatsApp(text));
          // Definitions of links are directions to the reader of the source, and a table's short row is filled up.
          fc.pre(!text.includes(']:') && !text.includes('|'));
          assert.equal(said, letters(text));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
