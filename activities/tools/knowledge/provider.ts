// Answers from the business's own pages, with their source. The pages are the business's words, so nothing taints.
//
// Operations and their arguments:
//   search  query
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { KnowledgeSettings } from '../../../config/schema/providers.js';
import { searchPassages, type FoundPassage } from '../../../prisma/stores/knowledge.js';
import type { InScope } from '../../../prisma/stores/scope.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import type { ToolCall, ToolProvider } from '../provider.js';
import { ingestKnowledge } from './ingest.js';

export interface KnowledgeOptions {
  inScope: InScope;
  /** Where a tenant's pages lie. */
  folderOf(slug: string): string;
}

/**
 * Pages are read when a process is first asked, not when it starts: there is no order of starting to keep, and a business
 * that was added meanwhile is found. What is stored already is only compared.
 */
export function createKnowledge({ inScope, folderOf }: KnowledgeOptions): ToolProvider {
  const ingested = new Map<string, Promise<unknown>>();
  const ingestOnce = async ({ tenantId, configuration }: ToolCall): Promise<void> => {
    const known = ingested.get(tenantId);
    const ingestion =
      known ??
      ingestKnowledge(inScope, {
        tenantId,
        folder: folderOf(configuration.slug),
        language: configuration.business.language,
        passageCharacters: settingsOf(configuration).passageCharacters,
      });
    ingested.set(tenantId, ingestion);
    // A failure isn't remembered: the next question tries again.
    await ingestion.catch((error: unknown) => {
      ingested.delete(tenantId);
      throw error;
    });
  };
  return {
    resultsAreUntrusted: false,
    operations: {
      search: {
        async call(call) {
          await ingestOnce(call);
          return search(inScope, call);
        },
      },
    },
  };
}

async function search(inScope: InScope, call: ToolCall): Promise<JsonObject> {
  const { configuration, arguments: values } = call;
  const settings = settingsOf(configuration);
  const question = typeof values['query'] === 'string' ? values['query'] : '';
  const found = await inScope(call.tenantId, (scope) =>
    searchPassages(scope.tx, {
      question,
      language: configuration.business.language,
      limit: settings.passages,
    }),
  );
  const [best] = found;
  return {
    passages: found.map(({ heading, file, body }) => ({ heading, file, text: body })),
    citations: found.map(({ title, heading, file }) => ({ title, heading, file })),
    summary: best
      ? `${quoteOf(best, settings.quoteCharacters)} (${best.heading})`
      : 'Our pages say nothing about that.',
  };
}

/** The lines that fit best, in their order, as many as there is room for; the best alone is shortened rather than left out. */
function quoteOf({ body, lineRanks }: FoundPassage, most: number): string {
  const lines = body.split('\n').map((text, place) => ({ text, place, rank: lineRanks[place] ?? 0 }));
  const byRank = lines.toSorted((one, other) => other.rank - one.rank || one.place - other.place);
  const best = byRank[0];
  if (!best) return '';
  const chosen = [best];
  let length = best.text.length;
  for (const line of byRank.slice(1)) {
    // A line that fits clearly less well is about something else.
    if (line.rank < best.rank || length + 1 + line.text.length > most) continue;
    chosen.push(line);
    length += 1 + line.text.length;
  }
  const text = chosen
    .toSorted((one, other) => one.place - other.place)
    .map((line) => withStop(line.text))
    .join(' ');
  return text.length <= most ? text : shortened(text, most);
}

function withStop(line: string): string {
  return /[.!?…:]$/.test(line) ? line : `${line}.`;
}

/** Whole sentences where one fits, else whole words. */
function shortened(text: string, most: number): string {
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)];
  let whole = '';
  for (const { segment } of sentences) {
    if ((whole + segment).trimEnd().length > most) break;
    whole += segment;
  }
  if (whole !== '') return whole.trimEnd();
  return `${text.slice(0, most).replace(/\s+\S*$/, '')}…`;
}

function settingsOf({ providers }: TenantConfiguration): KnowledgeSettings {
  const { knowledge } = providers;
  if (!knowledge) throw new Error('a tool names the provider knowledge, which has no settings');
  return knowledge;
}
