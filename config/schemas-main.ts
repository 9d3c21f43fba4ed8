// The schemas for editors as a command: `npm run config:schemas` writes config/schemas/. Composition root.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { editorSchemas, schemaText } from './json-schemas.js';

const folder = fileURLToPath(new URL('./schemas', import.meta.url));
const schemas = editorSchemas();
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!schemas.has(name)) rmSync(join(folder, name));
for (const [name, schema] of schemas) writeFileSync(join(folder, name), schemaText(schema));
process.stdout.write(`${schemas.size} schemas written to ${folder}\n`);
