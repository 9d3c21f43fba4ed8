// The catalogue turned round: from a word to the tools it speaks for. BM25F inside a field, but against fixed reference
// lengths and saturated to 0..1, so that a tool's score doesn't move when other tools come or go.
import type { TenantConfiguration } from '../../config/configuration.js';
import { phrasesOf, wordsOf } from '../../config/phrases.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import { FIELDS, takesValues, textsOf, type Field } from './tool-text.js';
import type { Word, WordReader } from './words.js';

export type DetectionSettings = Pick<TenantConfiguration, 'detection' | 'phrases'>;

export interface IndexedTool {
  name: string;
  takesValues: boolean;
  /** Words with which a request for this tool begins: the first of its name, trigger phrases and examples. */
  actions: ReadonlySet<string>;
}

export interface IndexedPhrase {
  tool: IndexedTool;
  text: string;
  words: readonly Word[];
  /** A trigger phrase: a whole way of asking. An alias is only another name. */
  isTrigger: boolean;
}

export interface ToolIndex {
  size: number;
  /** How strongly a word speaks for each tool, 0..1. */
  toolsOf(word: Word): ReadonlyMap<IndexedTool, number>;
  /** How well a word tells the tools of this catalogue apart, 0..1. */
  distinction(word: Word): number;
  /** Tools with an example or trigger phrase that is this sentence, whatever the numbers and dates in it. */
  examplesLike(words: readonly Word[]): readonly IndexedTool[];
  /** Trigger phrases and aliases that begin with this word. */
  phrasesAt(word: Word): readonly IndexedPhrase[];
}

/** Words in a usual text of the field: a longer one says less with each of its words. */
const REFERENCE_LENGTH: Record<Field, number> = {
  name: 3,
  aliases: 8,
  triggerPhrases: 20,
  tags: 5,
  description: 12,
  whenToUse: 20,
  examples: 40,
  schema: 20,
};

/** The catalogue is seen as part of a world of so many other tools, else "rare" would mean nothing among two. */
const OTHER_TOOLS = 100;

export function createToolIndex(
  settings: DetectionSettings,
  definitions: readonly ToolDefinition[],
  reader: WordReader,
): ToolIndex {
  const postings = new Map<string, Map<IndexedTool, number>>();
  const phrases = new Map<string, IndexedPhrase[]>();
  const examples = new Map<string, IndexedTool[]>();
  const asks = phrasesOf(settings.phrases, 'requestForms').map((phrase) => wordsOf(phrase).join(' '));
  for (const definition of definitions) add(definition);
  const none: ReadonlyMap<IndexedTool, number> = new Map();

  return {
    size: definitions.length,
    phrasesAt: (word) => [...new Set(word.forms.flatMap((form) => phrases.get(form) ?? []))],
    examplesLike: (words) => examples.get(patternOf(words)) ?? [],
    toolsOf(word) {
      const [first = none, ...others] = word.forms.flatMap((form) => postings.get(form) ?? []);
      if (others.length === 0) return first;
      const best = new Map(first);
      for (const [tool, strength] of others.flatMap((each) => [...each])) {
        best.set(tool, Math.max(strength, best.get(tool) ?? 0));
      }
      return best;
    },
    distinction(word) {
      const count = Math.max(0, ...word.forms.map((form) => postings.get(form)?.size ?? 0));
      const world = definitions.length + OTHER_TOOLS;
      return Math.log(1 + (world - count + 0.5) / (count + 0.5)) / Math.log(1 + (world + 0.5) / 0.5);
    },
  };

  function add(definition: ToolDefinition): void {
    const tool: IndexedTool = {
      name: definition.name,
      takesValues: takesValues(definition),
      actions: actionsOf(definition),
    };
    for (const [form, weight] of weightsOf(definition)) {
      const tools = postings.get(form) ?? new Map<IndexedTool, number>();
      tools.set(tool, weight / (weight + settings.detection.k1));
      postings.set(form, tools);
    }
    for (const text of [...definition.triggerPhrases, ...definition.examples]) {
      const words = reader.read(text);
      // "How much is" by itself asks for nothing in particular.
      if (!words.some(({ information, isValue }) => information > 0 || isValue)) continue;
      const pattern = patternOf(words);
      examples.set(pattern, [...new Set([...(examples.get(pattern) ?? []), tool])]);
    }
    for (const text of definition.triggerPhrases)
      addPhrase({ tool, text, words: reader.read(text), isTrigger: true });
    for (const text of definition.aliases)
      addPhrase({ tool, text, words: reader.read(text), isTrigger: false });
  }

  function addPhrase(phrase: IndexedPhrase): void {
    for (const form of phrase.words[0]?.forms ?? []) {
      phrases.set(form, [...(phrases.get(form) ?? []), phrase]);
    }
  }

  /** Form → occurrences, weighted by field and by the field's length. */
  function weightsOf(definition: ToolDefinition): Map<string, number> {
    const { b, weights } = settings.detection;
    const sums = new Map<string, number>();
    for (const field of FIELDS) {
      const words = textsOf(definition, field).flatMap((text) => reader.read(text));
      const telling = words.filter(({ information }) => information > 0);
      const perWord = weights[field] / (1 - b + (b * telling.length) / REFERENCE_LENGTH[field]);
      for (const { forms } of telling) {
        for (const form of forms) sums.set(form, (sums.get(form) ?? 0) + perWord);
      }
    }
    return sums;
  }

  function actionsOf(definition: ToolDefinition): Set<string> {
    const { name, triggerPhrases, examples } = definition;
    const ownName = name.split(/[./:]|__/).at(-1) ?? name;
    const texts = [...textsOf({ ...definition, name: ownName }, 'name'), ...triggerPhrases, ...examples];
    return new Set(texts.flatMap((text) => firstTelling(text)?.forms ?? []));
  }

  /** The first word that says something, request forms left out. */
  function firstTelling(text: string): Word | undefined {
    const words = reader.read(text);
    const whole = words.map((word) => word.text).join(' ');
    const opening = asks
      .filter((form) => whole.startsWith(`${form} `))
      .sort((a, b) => b.length - a.length)[0];
    const skip = opening === undefined ? 0 : opening.split(' ').length;
    return words.slice(skip).find(({ information }) => information > 0);
  }
}

/** The words of a sentence, with one mark for each run of numbers and dates. */
function patternOf(words: readonly Word[]): string {
  return words
    .map(({ text, isValue }) => (isValue ? '#' : text))
    .filter((part, index, parts) => part !== '#' || parts[index - 1] !== '#')
    .join(' ');
}
