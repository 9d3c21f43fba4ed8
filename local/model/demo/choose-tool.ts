// Which tool a message means: by the words it shares with a tool's own texts, told apart by how rare a word is
// among the tools on offer.
import type { ModelTool } from '../wire.js';
import type { Parameter } from './parameters.js';
import { meaningfulWords, stem, stems, wordsOf } from './words.js';

/** How much a shared word says, by where the tool has it. */
const WEIGHTS = { name: 3, description: 2, parameter: 0.5 } as const;
/** The word a tool's text begins with is its act; a message that begins with the same act means it. */
const SAME_ACT = 2;
/** "book" and "book" rather than "book" and "bookings". */
const SAME_FORM = 0.5;
/** Somebody who asks wants to know first: tools that only look gain, tools that do something lose. */
const QUESTION_FITS = 2;
const ACT_IN_QUESTION = 0.5;
/** A word from a sentence about what a tool is not for. */
const WARNED_OFF = -2;
/** Recent talk only breaks ties. */
const CONTEXT_SHARE = 0.1;

/** Verbs of tools that only look. */
const LOOKING = new Set(
  'check list find search look lookup show see get read view fetch tell answer explain count compare'
    .split(' ')
    .map(stem),
);
const QUESTION_START =
  /^(?:and |so |hi,? |hello,? )?(?:is|are|was|were|do|does|did|has|have|what|which|when|where|who|how|why|any)\b/i;

interface Described {
  tool: ModelTool;
  name: Set<string>;
  description: Set<string>;
  parameter: Set<string>;
  warned: Set<string>;
  forms: Set<string>;
  acts: Set<string>;
  onlyLooks: boolean;
}

export interface CatalogueEntry {
  tool: ModelTool;
  parameters: Parameter[];
}

export interface Ranked {
  entry: CatalogueEntry;
  /** From the message alone; recent talk only orders. */
  score: number;
}

/** Tools that share at least one word with the message, best first. */
export function rankTools(options: {
  catalogue: CatalogueEntry[];
  message: string;
  context?: string;
}): Ranked[] {
  const described = options.catalogue.map(describe);
  const own = scoresOf(described, options.message);
  const recent = options.context === undefined ? [] : scoresOf(described, options.context);
  const order = (index: number): number =>
    (own[index] ?? 0) + CONTEXT_SHARE * Math.max(0, recent[index] ?? 0);
  return options.catalogue
    .map((entry, index) => ({ entry, score: own[index] ?? 0, order: order(index) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.order - one.order)
    .map(({ entry, score }) => ({ entry, score }));
}

function scoresOf(described: Described[], message: string): number[] {
  const words = [...new Set(meaningfulWords(message))];
  const act = words[0];
  const isQuestion = asksSomething(message);
  return described.map((tool) => {
    const shared = words.reduce((sum, word) => sum + wordScore(word, tool, described), 0);
    if (shared <= 0) return 0;
    if (isQuestion) return tool.onlyLooks ? shared + QUESTION_FITS : shared * ACT_IN_QUESTION;
    return shared + (act !== undefined && isSameAct(act, tool) ? SAME_ACT : 0);
  });
}

export function asksSomething(message: string): boolean {
  return QUESTION_START.test(message.trim());
}

/** Whether a tool finds something out rather than doing something. */
export function onlyLooks({ name, description }: ModelTool): boolean {
  const first = [wordsOf(name)[0], meaningfulWords(bySide(description ?? '').meant)[0]];
  return first.some((word) => word !== undefined && LOOKING.has(stem(word)));
}

/** A plural names things, not an act. */
function isSameAct(word: string, { acts }: Described): boolean {
  return acts.has(stem(word)) && !/[^s]s$/.test(word);
}

function wordScore(word: string, tool: Described, all: Described[]): number {
  const root = stem(word);
  const has = (other: Described): boolean =>
    other.name.has(root) || other.description.has(root) || other.parameter.has(root);
  if (!has(tool)) return tool.warned.has(root) ? WARNED_OFF : 0;
  const rarity = 1 / all.filter(has).length;
  const weight = Math.max(
    tool.name.has(root) ? WEIGHTS.name : 0,
    tool.description.has(root) ? WEIGHTS.description : 0,
    tool.parameter.has(root) ? WEIGHTS.parameter : 0,
  );
  return weight * rarity + (tool.forms.has(word) ? SAME_FORM : 0);
}

function describe(entry: CatalogueEntry): Described {
  const { tool, parameters } = entry;
  const { meant, warned } = bySide(tool.description ?? '');
  const name = wordsOf(tool.name);
  const firstWords = [name[0], meaningfulWords(meant)[0]].filter((word) => word !== undefined);
  const texts = parameters.flatMap((each) => [each.name, each.description, ...each.choices]).join(' ');
  return {
    tool,
    name: new Set(name.map(stem)),
    description: stems(meant),
    parameter: stems(texts),
    warned: stems(warned),
    forms: new Set([...name, ...wordsOf(meant)]),
    acts: new Set(firstWords.map(stem)),
    onlyLooks: onlyLooks(tool),
  };
}

/** Descriptions also say what a tool is not for; those sentences must not attract. */
function bySide(description: string): { meant: string; warned: string } {
  const isWarning = (text: string): boolean => /^(?:do not|don['’]t|never|not|avoid)\b/i.test(text.trim());
  // A line that begins with a warning is one to its end.
  const parts = description
    .split(/\n+/)
    .flatMap((line) => (isWarning(line) ? [line] : line.split(/(?<=[.;!?])\s+/)));
  return {
    meant: parts.filter((part) => !isWarning(part)).join(' '),
    warned: parts.filter(isWarning).join(' '),
  };
}
