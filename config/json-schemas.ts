// JSON Schemas of the configuration files, for editors: completion, and a red line under a misspelt key before anything is
// started. They are made of the same zod schemas that the loader checks with, so the two can't disagree. What only code can
// check (a time zone that exists, two values that fit together) the loader still tells at start.
import { z } from 'zod';
import { phraseBook } from './schema/phrases.js';
import { SECTIONS } from './schema/sections.js';
import { systemMessageBook } from './schema/system-messages.js';

/** Any file of sections: below `defaults/` and `tenants/<slug>/`. */
export const SECTIONS_FILE = 'sections.schema.json';
/** A file of `phrases/`. */
export const PHRASES_FILE = 'phrase-book.schema.json';
/** A file `system.<language>.yaml` beside them. */
export const SYSTEM_MESSAGES_FILE = 'system-message-book.schema.json';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type Schema = Record<string, unknown>;

/** Every schema by the name of its file in `config/schemas/`. */
export function editorSchemas(): Map<string, Schema> {
  const sections = Object.entries(SECTIONS);
  return new Map<string, Schema>([
    ...sections.map(([name, schema]) => [fileOf(name), titled(name, schema)] as const),
    [PHRASES_FILE, titled('Sentences and word lists of one language', phraseBook)],
    [SYSTEM_MESSAGES_FILE, titled('What the platform itself writes in one language', systemMessageBook)],
    [
      SECTIONS_FILE,
      {
        $schema: DIALECT,
        title: 'Sections of the configuration; a file holds any of them',
        type: 'object',
        properties: Object.fromEntries(sections.map(([name]) => [name, { $ref: fileOf(name) }])),
        additionalProperties: false,
      },
    ],
  ]);
}

/** As it is written to disk. */
export function schemaText(schema: Schema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function fileOf(section: string): string {
  return `${section}.schema.json`;
}

function titled(title: string, schema: z.ZodType): Schema {
  const { $schema: dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { $schema: dialect ?? DIALECT, title, ...asLayer(rest) };
}

/**
 * A file is one layer of two that are merged, so what it leaves out may stand in the other: no key of a mapping is
 * required. Lists are replaced as a whole; within their items everything has to be there.
 */
function asLayer(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) => {
      if (keyword === 'required') return [];
      if (!isSchema(value)) return [[keyword, value]];
      if (keyword === 'properties') return [[keyword, mapped(value, asLayer)]];
      return [[keyword, keyword === 'additionalProperties' ? asLayer(value) : value]];
    }),
  );
}

function mapped(children: Schema, change: (child: Schema) => Schema): Schema {
  return Object.fromEntries(
    Object.entries(children).map(([name, child]) => [name, isSchema(child) ? change(child) : child]),
  );
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
