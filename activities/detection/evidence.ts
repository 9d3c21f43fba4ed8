// How much one sentence speaks for each tool. Counted in telling words: a word is worth its information times how
// strongly the tool's metadata holds it; whole phrases, an opening verb and dates add to it.
import type { IndexedPhrase, IndexedTool, ToolIndex } from './tool-index.js';
import type { Sentence } from './sentences.js';
import type { Word } from './words.js';

export interface Evidence {
  tool: IndexedTool;
  /** Words of the message that speak for the tool, with their worth. */
  words: Map<Word, number>;
  /** Whole trigger phrases: of several words, or of one that opens the sentence. */
  phrases: string[];
  /** The sentence begins as requests for this tool do. */
  action: Word | undefined;
  /** The sentence is an example or trigger phrase of the tool, apart from numbers and dates. */
  isExample: boolean;
}

/** A verb may have one small word before it: "to book", "me find". */
const HEAD_REACH = 2;

export function evidenceOf(index: ToolIndex, sentence: Sentence): Evidence[] {
  const found = new Map<IndexedTool, Evidence>();
  const reach = sentence.form === 'request' ? HEAD_REACH : 1;
  const of = (tool: IndexedTool): Evidence => {
    const known = found.get(tool) ?? {
      tool,
      words: new Map(),
      phrases: [],
      action: undefined,
      isExample: false,
    };
    found.set(tool, known);
    return known;
  };
  for (const word of new Set(sentence.words)) {
    if (word.information === 0) continue;
    const distinction = index.distinction(word);
    for (const [tool, strength] of index.toolsOf(word)) {
      of(tool).words.set(word, word.information * strength * distinction);
    }
  }
  for (const { phrase, start, end } of phrasesIn(index, sentence.words)) {
    const evidence = of(phrase.tool);
    const opens = start - sentence.head < reach && start >= sentence.head && sentence.form !== 'question';
    if (phrase.isTrigger && (end - start > 1 || (opens && isLiteral(phrase, sentence.words[start])))) {
      evidence.phrases.push(phrase.text);
    }
    for (const covered of sentence.words.slice(start, end)) {
      if (covered.information > 0) evidence.words.set(covered, covered.information);
    }
  }
  const head = sentence.words
    .slice(sentence.head, sentence.head + reach)
    .find(({ information }) => information > 0);
  if (head && sentence.form !== 'question') {
    // Without "please" only the word itself will do: "book 10:30" is a request, "books are my life" isn't.
    const openings = sentence.form === 'request' ? head.forms : [head.text];
    for (const evidence of found.values()) {
      if (openings.some((form) => evidence.tool.actions.has(form))) evidence.action = head;
    }
  }
  for (const tool of index.examplesLike(sentence.words)) of(tool).isExample = true;
  return [...found.values()];
}

interface Span {
  phrase: IndexedPhrase;
  start: number;
  end: number;
}

/** Phrases that stand in the sentence, without those inside a longer one: "do I have an appointment" isn't "an appointment". */
function phrasesIn(index: ToolIndex, words: readonly Word[]): Span[] {
  const spans = words.flatMap((word, start) =>
    index
      .phrasesAt(word)
      .filter((phrase) => standsAt(phrase, words, start))
      .map((phrase): Span => ({ phrase, start, end: start + phrase.words.length })),
  );
  return spans.filter(
    ({ start, end }) =>
      !spans.some(
        (other) => other.start <= start && other.end >= end && other.end - other.start > end - start,
      ),
  );
}

function isLiteral(phrase: IndexedPhrase, word: Word | undefined): boolean {
  return phrase.words[0]?.text === word?.text;
}

function standsAt(phrase: IndexedPhrase, words: readonly Word[], position: number): boolean {
  return phrase.words.every((wanted, offset) =>
    words[position + offset]?.forms.some((form) => wanted.forms.includes(form)),
  );
}
