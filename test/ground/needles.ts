// What belongs in configuration and nowhere else, read from the configuration itself (spec A16).
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

export const KINDS = [
  'tool name',
  'alias',
  'trigger phrase',
  'example',
  'model name',
  'word of the sample business',
  'fixed sentence',
  'phrase that is listened for',
] as const;
export type NeedleKind = (typeof KINDS)[number];

export interface Needle {
  kind: NeedleKind;
  text: string;
}

const words = z.array(z.string()).default([]);
const phrasesShape = z.object({
  sentences: z.record(z.string(), z.string()).default({}),
  lists: z.record(z.string(), words).default({}),
});
const documentShape = phrasesShape.extend({
  business: z.object({ name: z.string().optional() }).default({}),
  owners: z.array(z.object({ id: z.string(), name: z.string() })).default([]),
  channels: z
    .object({
      web: z.object({ accountKey: z.string() }).optional(),
      whatsapp: z.array(z.object({ accountKey: z.string() })).default([]),
    })
    .default({ whatsapp: [] }),
  providers: z.record(z.string(), z.object({ resource: z.string().optional() })).default({}),
  tools: z
    .record(z.string(), z.object({ aliases: words, triggerPhrases: words, examples: words }))
    .default({}),
  models: z.record(z.string(), z.union([z.string(), z.object({ name: z.string() })])).default({}),
  phrases: z.record(z.string(), phrasesShape).default({}),
});

/** One word of everyday language can't be kept out of code; two that an owner wrote side by side can. */
const isTelling = (text: string, least = 2): boolean => text.trim().split(/\s+/).length >= least;

/** The needles of one YAML file. */
export function needlesOf(file: string): Needle[] {
  const document = documentShape.parse(parse(readFileSync(file, 'utf8')));
  const needles: Needle[] = [];
  const add = (kind: NeedleKind, texts: (string | undefined)[]): void => {
    for (const text of texts) if (text !== undefined) needles.push({ kind, text });
  };
  for (const [name, tool] of Object.entries(document.tools)) {
    add('tool name', [name]);
    add(
      'alias',
      tool.aliases.filter((alias) => isTelling(alias)),
    );
    add(
      'trigger phrase',
      tool.triggerPhrases.filter((phrase) => isTelling(phrase)),
    );
    add(
      'example',
      tool.examples.filter((example) => isTelling(example, 3)),
    );
  }
  for (const model of Object.values(document.models)) {
    if (typeof model !== 'string') add('model name', [model.name]);
  }
  if (dirname(dirname(file)).endsWith('tenants'))
    add('word of the sample business', [basename(dirname(file))]);
  add('word of the sample business', [document.business.name]);
  add(
    'word of the sample business',
    document.owners.flatMap(({ id, name }) => [id, name]),
  );
  add(
    'word of the sample business',
    [document.channels.web, ...document.channels.whatsapp].map((account) => account?.accountKey),
  );
  add(
    'word of the sample business',
    Object.values(document.providers).map(({ resource }) => resource),
  );
  for (const { sentences, lists } of [document, ...Object.values(document.phrases)]) {
    add('fixed sentence', Object.values(sentences).flatMap(sentenceParts));
    add(
      'phrase that is listened for',
      Object.values(lists)
        .flat()
        .filter((phrase) => isTelling(phrase, 3)),
    );
  }
  return needles;
}

/** A text may be several sentences; what is left of one with holes in it has to be longer to be telling. */
function sentenceParts(text: string): string[] {
  return text.split(/[.!?\n]/).flatMap((sentence) => {
    const parts = sentence.split(/\[|\]|\{\w+\}/).map((part) => part.trim());
    return parts.filter((part) => isTelling(part, parts.length === 1 ? 3 : 5));
  });
}
