// Cases and catalogues of a data folder (its README.md has the form), parsed at the door.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Json, ToolDefinition } from '../../workflows/domain/tool.js';

const itemSchema = z.object({
  id: z.string(),
  source: z.string(),
  lang: z.string(),
  history: z.array(z.unknown()),
  message: z.string(),
  label: z.enum(['tool', 'chat', 'followup']),
  tools: z.array(z.string()),
  catalog: z.string(),
  sub: z.string().optional(),
  soft: z.boolean().optional(),
});

export type Item = z.infer<typeof itemSchema>;

const json: z.ZodType<Json> = z.json();
const entrySchema = z.object({
  name: z.string(),
  description: z.string().default(''),
  inputSchema: z.record(z.string(), json).default({}),
  tags: z.array(z.string()).default([]),
  examples: z.array(z.string()).default([]),
});

export interface DetectionData {
  items: Item[];
  /** By file name; holds no distractors. */
  catalogues: Map<string, ToolDefinition[]>;
  /** Real tools in a fixed order, to let a catalogue grow. Empty where the folder has none. */
  distractors: ToolDefinition[];
}

const DISTRACTORS = 'mcp-distractors.json';

/** @throws Error naming the file and the line that can't be read. */
export function readDetectionData(directory: string): DetectionData {
  const items = readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) => readItems(join(directory, name)));
  const folder = join(directory, 'catalogs');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  const read = new Map(names.sort().map((name) => [name, readCatalogue(join(folder, name))]));
  const distractors = read.get(DISTRACTORS) ?? [];
  read.delete(DISTRACTORS);
  return { items, catalogues: read, distractors };
}

function readItems(file: string): Item[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const parsed = itemSchema.safeParse(JSON.parse(line));
      if (!parsed.success) throw new Error(`${file}:${index + 1}: ${z.prettifyError(parsed.error)}`);
      return [parsed.data];
    });
}

function readCatalogue(file: string): ToolDefinition[] {
  const parsed = z.array(entrySchema).safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  return parsed.data.map(definitionOf);
}

/** Only what a detector reads differs between entries. */
function definitionOf(entry: z.infer<typeof entrySchema>): ToolDefinition {
  return {
    ...entry,
    enabled: true,
    provider: 'bench',
    operation: 'none',
    whenToUse: '',
    whenNotToUse: '',
    aliases: [],
    triggerPhrases: [],
    effect: 'read',
    risk: 'low',
    actors: ['customer'],
    chatKinds: ['direct'],
    privateData: false,
    outputSchema: {},
    managedFields: [],
    secretFields: [],
    timeoutMs: 1000,
    asyncEligible: false,
  };
}
