// The detector that needs no model: BM25F over the catalogue's own words, read sentence by sentence. Conservative: one
// threshold from configuration, and talk about the chat itself never passes.
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import type { Candidate, Detection, Detector } from './detector.js';
import { evidenceOf, type Evidence } from './evidence.js';
import { createSentenceReader, type Sentence } from './sentences.js';
import { createTalkReader } from './talk.js';
import { createToolIndex, type DetectionSettings } from './tool-index.js';
import { createWordReader } from './words.js';

/** Catalogues up to this size are judged alike; beyond it chance matches grow with every tool. */
const SMALL_CATALOGUE = 12;

/** Builds the index once per catalogue; `detect` is then pure and takes well under a millisecond per hundred tools. */
export function createLexicalDetector(
  settings: DetectionSettings,
  tools: readonly ToolDefinition[],
): Detector {
  const { detection, phrases } = settings;
  const words = createWordReader({ phrases, everydayInformation: detection.everydayInformation });
  const sentences = createSentenceReader({ phrases, words });
  const index = createToolIndex(settings, tools, words);
  const talk = createTalkReader({ phrases, sentences });
  const growth = Math.max(0, Math.log10(index.size / SMALL_CATALOGUE)) * detection.cataloguePenalty;

  return {
    followUpIn: (text) => talk.followUpIn(text),
    detect({ text, recentTools }): Detection {
      const reason = talk.reasonOf(text);
      if (reason !== undefined) return nothing(reason);
      const read = sentences.read(text);
      const ranked = rank(read, new Set(recentTools));
      const [best] = ranked;
      if (!best) {
        const chat = read.find(({ form }) => form === 'talk');
        return nothing(chat ? `talk: "${chat.by}"` : 'no word of the message belongs to a tool');
      }
      if (best.score < detection.threshold) {
        return nothing(`${best.score.toFixed(2)} is below ${detection.threshold}: ${best.because}`);
      }
      const least = Math.max(best.score * detection.candidateShare, Number.MIN_VALUE);
      // Not cut to a number here: only some of them may be offered to this speaker.
      return { candidates: ranked.filter(({ score }) => score >= least), because: best.because };
    },
  };

  function rank(read: readonly Sentence[], recent: ReadonlySet<string>): Candidate[] {
    const best = new Map<string, Candidate>();
    for (const sentence of read) {
      if (sentence.form === 'talk') continue;
      for (const evidence of evidenceOf(index, sentence)) {
        if (sentence.isTextWork && evidence.action === undefined) continue;
        if (sentence.isOpening && sentence.form !== 'request' && evidence.action === undefined) continue;
        const { name } = evidence.tool;
        const candidate = candidateOf(sentence, evidence, recent.has(name));
        if (candidate.score > (best.get(name)?.score ?? 0)) best.set(name, candidate);
      }
    }
    return [...best.values()].sort(
      (one, other) => other.score - one.score || one.tool.localeCompare(other.tool),
    );
  }

  function candidateOf(sentence: Sentence, evidence: Evidence, isRecent: boolean): Candidate {
    const { tool, action, words: matched } = evidence;
    const hasValue = tool.takesValues && sentence.words.some(({ isValue }) => isValue);
    const said = sum(new Set(sentence.words), ({ information }) => information);
    const covered = sum(matched.keys(), ({ information }) => information);
    const lexical = sum(matched.values(), (worth) => worth);
    const strength =
      lexical +
      (evidence.phrases.length > 0 || evidence.isExample ? detection.phraseBonus : 0) +
      // A verb that opens requests for many tools ("find") tells little about this one.
      (action === undefined ? 0 : detection.actionBonus * Math.sqrt(index.distinction(action))) +
      (hasValue ? Math.min(detection.valueBonus, lexical) : 0);
    const coverage = said === 0 ? 1 : covered / said;
    const form = formFor(sentence, evidence, coverage);
    const score =
      (strength *
        detection.forms[form] *
        coverage ** detection.coverage[form === 'request' ? 'request' : 'other']) /
        (1 + growth) +
      // A message that is mostly about other things doesn't go on with the result.
      (isRecent ? detection.recentContextBonus * coverage : 0);
    const because = [
      form === 'request'
        ? [`asks for something${sentence.by === undefined ? '' : ` ("${sentence.by}")`}`]
        : [],
      sentence.form === 'question' ? ['asks a question'] : [],
      action === undefined ? [] : [`begins with "${action.text}"`],
      evidence.isExample ? ['said as in an example'] : [],
      evidence.phrases.map((phrase) => `phrase "${phrase}"`),
      matched.size === 0 ? [] : [`words ${[...matched.keys()].map(({ text }) => text).join(', ')}`],
      hasValue ? ['holds a date, a time or a number'] : [],
      isRecent ? ['used a moment ago'] : [],
    ].flat();
    return { tool: tool.name, score, because: because.join('; ') };
  }
}

/** What the sentence does as far as this tool goes: less than "please" makes a request of what the owner has foreseen. */
function formFor(
  sentence: Sentence,
  { action, phrases, isExample }: Evidence,
  coverage: number,
): 'request' | 'question' | 'statement' {
  if (sentence.form === 'request' || isExample) return 'request';
  if (sentence.form === 'question') return 'question';
  // "Book 10:30", and "I can't make it" where nothing else is said. Weaker: "book" opens other sentences too.
  return action !== undefined || (phrases.length > 0 && coverage === 1) ? 'question' : 'statement';
}

function nothing(because: string): Detection {
  return { candidates: [], because };
}

function sum<T>(all: Iterable<T>, worth: (one: T) => number): number {
  let total = 0;
  for (const one of all) total += worth(one);
  return total;
}
