import assert from 'node:assert/strict';
import fc from 'fast-check';
import { clip } from '../../../activities/whatsapp-cloud/clip.js';
import { splitTail, splitText } from '../../../activities/whatsapp-cloud/split.js';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const startsOf = (text: string): Set<number> =>
  new Set([...graphemes.segment(text)].map(({ index }) => index).concat(text.length));

/** No half of a code point. */
const isWhole = (text: string): boolean => Buffer.from(text, 'utf8').toString('utf8') === text;

/** Talk of every kind: words, sentences, paragraphs, families of emoji, letters with accents set on them. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-zşığü]{1,12}$/) },
  { weight: 6, arbitrary: fc.constantFrom(' ', '. ', '? ', ', ', '\n', '\n\n', '\n\n\n', '—', '。') },
  { weight: 2, arbitrary: fc.constantFrom('👩‍👩‍👧‍👦', '🇹🇷', 'é', 'नमस्ते', '👍🏽', '漢字', '𝒜', '1️⃣', '\r\n') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 10 }) },
);
const talk = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(''));
const limits = fc.integer({ min: 20, max: 200 });

describe('a text that is too long', () => {
  it('comes in parts that are the text when joined, each within the limit', () => {
    fc.assert(
      fc.property(talk, limits, (text, limit) => {
        const parts = splitText(text, limit);
        assert.equal(parts.join(''), text);
        for (const part of parts) assert.ok(part.length <= limit);
        if (text !== '') for (const part of parts) assert.notEqual(part, '');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is never cut within what a reader sees as one character', () => {
    fc.assert(
      fc.property(talk, limits, (text, limit) => {
        const starts = startsOf(text);
        let end = 0;
        for (const part of splitText(text, limit)) {
          end += part.length;
          assert.ok(starts.has(end), `cut at ${end}`);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('is cut in as few parts as half-full ones need', () => {
    fc.assert(
      fc.property(talk, limits, (text, limit) => {
        const parts = splitText(text, limit);
        assert.ok(parts.length <= Math.max(1, Math.ceil(text.length / (limit / 2))) + 1);
      }),
      { numRuns: 500 },
    );
  });

  const CUTS: [where: string, text: string, parts: string[]][] = [
    ['between paragraphs', 'One one. Two two.\n\nThree. Four', ['One one. Two two.\n\n', 'Three. Four']],
    ['between lines', 'One one. Two two\nThree. Four', ['One one. Two two\n', 'Three. Four']],
    ['between sentences', 'One one one. Two two two two', ['One one one. ', 'Two two two two']],
    ['between words', 'one two three four five six', ['one two three four ', 'five six']],
    ['between characters', 'x'.repeat(25), ['x'.repeat(20), 'x'.repeat(5)]],
    ['not within an emoji', `${'x'.repeat(17)}👩‍👩‍👧‍👦`, ['x'.repeat(17), '👩‍👩‍👧‍👦']],
  ];
  for (const [where, text, parts] of CUTS) {
    it(`is cut ${where}`, () => assert.deepEqual(splitText(text, 20), parts));
  }

  it('is cut within a character only where that alone is longer than a message, and never within a code point', () => {
    const monster = `a${'\u0301'.repeat(50)}`;
    const parts = splitText(monster, 20);
    assert.equal(parts.join(''), monster);
    const pairs = '𝒜\u{1D167}'.repeat(20);
    for (const part of splitText(pairs, 21)) assert.ok(isWhole(part));
  });

  it('gives its end, as long as it may be, where buttons have to hang on something', () => {
    fc.assert(
      fc.property(talk, limits, (text, limit) => {
        const [head, tail] = splitTail(text, limit);
        assert.equal(head + tail, text);
        assert.ok(tail.length <= limit);
        assert.ok(startsOf(text).has(head.length));
        if (text !== '') assert.notEqual(tail, '');
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a text that is clipped', () => {
  it('fits, ends in an ellipsis, and holds whole characters', () => {
    fc.assert(
      fc.property(talk, fc.integer({ min: 2, max: 40 }), (text, limit) => {
        const clipped = clip(text, limit);
        assert.ok(clipped.length <= limit);
        if (text.length <= limit) return assert.equal(clipped, text);
        assert.ok(clipped.endsWith('…'));
        assert.ok(text.startsWith(clipped.slice(0, -1)));
        assert.ok(isWhole(clipped));
      }),
      { numRuns: 1_000 },
    );
  });
});
