// What of a result is kept so that a follow-up can refer to it (spec A9): what was said, what can be counted off ("the
// second one"), links, sources and named things. Compact and bounded; never the raw result.
import { z } from 'zod';
import { isJsonObject } from '../../prisma/json.js';
import type { Json, JsonObject } from '../../workflows/domain/tool.js';

const contextContent = z.object({
  summary: z.string(),
  /** In the order in which they were told: the first is "the first one". */
  items: z.array(z.string()),
  urls: z.array(z.string()),
  citations: z.array(z.string()),
  /** Single values by their names, such as a date. */
  entities: z.record(z.string(), z.string()),
});

export type ContextContent = z.infer<typeof contextContent>;

const MOST = { items: 20, urls: 10, citations: 10, entities: 20, characters: 200 } as const;
const URL_PATTERN = /^https?:\/\/\S+$/;

/** Takes what can be referred to out of a result that has been scrubbed already. */
export function contextOf(result: JsonObject, summary: string): ContextContent {
  const content: ContextContent = { summary, items: [], urls: [], citations: [], entities: {} };
  for (const [name, value] of Object.entries(result)) {
    if (name === 'summary') continue;
    if (name === 'citations' && Array.isArray(value)) {
      content.citations.push(...value.map(oneLine));
    } else if (Array.isArray(value)) {
      content.items.push(...value.map(oneLine));
    } else if (typeof value === 'string' || typeof value === 'number') {
      content.entities[name] = oneLine(value);
    }
  }
  content.urls = urlsIn(result);
  return bounded(content);
}

function bounded(content: ContextContent): ContextContent {
  return {
    summary: content.summary,
    items: content.items.slice(0, MOST.items),
    urls: content.urls.slice(0, MOST.urls),
    citations: content.citations.slice(0, MOST.citations),
    entities: Object.fromEntries(Object.entries(content.entities).slice(0, MOST.entities)),
  };
}

/** One item in words: its own text, or its members without the nested ones. */
function oneLine(value: Json): string {
  const text = isJsonObject(value)
    ? Object.entries(value)
        .flatMap(([name, member]) => (typeof member === 'object' ? [] : [`${name}: ${String(member)}`]))
        .join(', ')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
  return text.slice(0, MOST.characters);
}

function urlsIn(value: Json): string[] {
  if (typeof value === 'string') return URL_PATTERN.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(urlsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(urlsIn) : [];
}

/** For storing. */
export function writeContext(content: ContextContent): string {
  return JSON.stringify(content);
}

export function readContext(text: string): ContextContent {
  return contextContent.parse(JSON.parse(text));
}

/** For a prompt, inside a labelled block: what was said, then what can be pointed at. */
export function describeContext({ summary, items, urls, citations, entities }: ContextContent): string {
  const listed = (title: string, values: string[]): string[] =>
    values.length === 0
      ? []
      : [`${title}: ${values.map((value, index) => `${index + 1}. ${value}`).join('; ')}`];
  const named = Object.entries(entities).map(([name, value]) => `${name}: ${value}`);
  return [
    summary,
    ...(named.length === 0 ? [] : [named.join(', ')]),
    ...listed('in order', items),
    ...listed('links', urls),
    ...listed('sources', citations),
  ].join('\n');
}
