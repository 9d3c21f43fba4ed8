// BM25F over the catalogue's own words. Conservative: one threshold from configuration, small talk and questions about
// the chat itself never pass.
import type { TenantConfiguration } from '../../config/configuration.js';
import { firstMatch, isOnly, matchesAny, phrasesOf } from '../../config/phrases.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import type { Candidate, Detection, Detector } from './detector.js';
import { createTermReader, type TermReader } from './terms.js';

type Settings = Pick<TenantConfiguration, 'detection' | 'limits' | 'phrases' | 'assistant'>;
type Field = keyof TenantConfiguration['detection']['weights'];

interface IndexedTool {
  tool: ToolDefinition;
  /** Term → occurrences, weighted by field and normalised by the field's length. */
  weights: Map<string, number>;
}

/** Builds the index once per catalogue; `detect` is then pure and takes well under a millisecond per ten tools. */
export function createLexicalDetector(settings: Settings, tools: readonly ToolDefinition[]): Detector {
  const read = createTermReader(settings.assistant.languages);
  const index = buildIndex(settings, tools, read);
  const idf = inverseDocumentFrequency(index);
  return { detect: (query) => detect(query.text, query.recentTools) };

  function detect(text: string, recentTools: readonly string[]): Detection {
    if (isOnly(text, phrasesOf(settings.phrases, 'smallTalk'))) return nothing('small talk');
    const about = firstMatch(text, phrasesOf(settings.phrases, 'negative'));
    if (about !== undefined) return nothing(`about the chat itself: "${about}"`);
    const terms = new Set(read(text));
    const asks = matchesAny(text, phrasesOf(settings.phrases, 'requestForms'));
    const ranked = index
      .map((indexed) =>
        score(indexed, { text, terms, asks, isRecent: recentTools.includes(indexed.tool.name) }),
      )
      .sort((one, other) => other.score - one.score || one.tool.localeCompare(other.tool));
    const candidates = ranked
      .filter((candidate) => candidate.score >= settings.detection.threshold)
      .slice(0, settings.limits.maxCandidates);
    const best = ranked[0];
    if (candidates.length > 0 || !best) return { candidates, because: best?.because ?? 'no tool is offered' };
    return nothing(`${best.score.toFixed(2)} is below ${settings.detection.threshold}`);
  }

  function score(
    { tool, weights }: IndexedTool,
    message: { text: string; terms: Set<string>; asks: boolean; isRecent: boolean },
  ): Candidate {
    const { k1, phraseBonus, requestFormBonus, recentContextBonus } = settings.detection;
    const matched = [...message.terms].filter((term) => weights.has(term));
    const lexical = matched.reduce((sum, term) => {
      const weight = weights.get(term) ?? 0;
      return sum + ((idf.get(term) ?? 0) * weight * (k1 + 1)) / (weight + k1);
    }, 0);
    const phrase = firstMatch(message.text, [...tool.triggerPhrases, ...tool.aliases]);
    // A request form or a recent result alone says nothing about this tool.
    const isTouched = lexical > 0 || phrase !== undefined;
    const score =
      lexical +
      (phrase === undefined ? 0 : phraseBonus) +
      (isTouched && message.asks ? requestFormBonus : 0) +
      (isTouched && message.isRecent ? recentContextBonus : 0);
    const because = [
      phrase === undefined ? [] : [`phrase "${phrase}"`],
      matched.length === 0 ? [] : [`words ${matched.join(', ')}`],
      message.asks ? ['asks for something'] : [],
      message.isRecent ? ['used a moment ago'] : [],
    ].flat();
    return { tool: tool.name, score, because: because.join('; ') };
  }
}

function nothing(because: string): Detection {
  return { candidates: [], because };
}

function fieldsOf(tool: ToolDefinition): Record<Field, string> {
  return {
    name: tool.name.replaceAll('_', ' '),
    aliases: tool.aliases.join(' '),
    triggerPhrases: tool.triggerPhrases.join(' '),
    tags: tool.tags.join(' '),
    description: tool.description,
    whenToUse: tool.whenToUse,
    examples: tool.examples.join(' '),
    schema: schemaWords(tool.inputSchema).join(' '),
  };
}

/** Names, titles, descriptions and enumerated values of the parameters. */
function schemaWords(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(schemaWords);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if ((key === 'title' || key === 'description') && typeof value === 'string') return [value];
    if (key === 'enum' && Array.isArray(value)) return value.filter((item) => typeof item === 'string');
    if (key === 'properties' && typeof value === 'object' && value !== null) {
      return [
        ...Object.keys(value).map((name) => name.replaceAll('_', ' ')),
        ...schemaWords(Object.values(value)),
      ];
    }
    return [];
  });
}

function buildIndex(settings: Settings, tools: readonly ToolDefinition[], read: TermReader): IndexedTool[] {
  const { b, weights: fieldWeights } = settings.detection;
  const fieldNames = Object.keys(fieldWeights) as Field[];
  const documents = tools.map((tool) => {
    const fields = fieldsOf(tool);
    return { tool, terms: fieldNames.map((name) => ({ name, terms: read(fields[name]) })) };
  });
  const averages = fieldNames.map((_, position) => {
    const lengths = documents.map((document) => document.terms[position]?.terms.length ?? 0);
    return lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  });
  return documents.map(({ tool, terms }) => {
    const weights = new Map<string, number>();
    terms.forEach((field, position) => {
      const average = averages[position] ?? 0;
      const norm = 1 - b + (average === 0 ? 0 : (b * field.terms.length) / average);
      for (const term of field.terms) {
        weights.set(term, (weights.get(term) ?? 0) + fieldWeights[field.name] / norm);
      }
    });
    return { tool, weights };
  });
}

function inverseDocumentFrequency(index: readonly IndexedTool[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { weights } of index) {
    for (const term of weights.keys()) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return new Map(
    [...counts].map(([term, count]) => [term, Math.log(1 + (index.length - count + 0.5) / (count + 0.5))]),
  );
}
