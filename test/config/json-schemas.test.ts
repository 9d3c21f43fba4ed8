import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import {
  editorSchemas,
  PHRASES_FILE,
  schemaText,
  SECTIONS_FILE,
  SYSTEM_MESSAGES_FILE,
} from '../../config/json-schemas.js';
import { yamlFilesIn } from '../../config/yaml-source.js';

const FOLDER = 'config/schemas';

/** All of them together, as an editor finds them beside one another. */
function compiled(): (file: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  for (const [name, schema] of editorSchemas()) ajv.addSchema(schema, name);
  return (name) => ajv.getSchema(name) ?? assert.fail(`no ${name}`);
}

const shipped = [
  ...yamlFilesIn('config/defaults'),
  ...yamlFilesIn('config/phrases'),
  ...readdirSync('config/tenants').flatMap((slug) => yamlFilesIn(join('config/tenants', slug))),
];

function schemaFileOf(file: string): string {
  if (!file.startsWith('config/phrases/')) return SECTIONS_FILE;
  return basename(file).startsWith('system.') ? SYSTEM_MESSAGES_FILE : PHRASES_FILE;
}

describe('the schemas for editors', () => {
  const schemaOf = compiled();
  const problemsOf = (name: string, content: unknown): string[] => {
    const validate = schemaOf(name);
    validate(content);
    return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
  };

  it('are on disk as the code makes them (npm run config:schemas)', () => {
    const made = editorSchemas();
    assert.deepEqual(readdirSync(FOLDER).sort(), [...made.keys()].sort());
    for (const [name, schema] of made) {
      assert.equal(readFileSync(join(FOLDER, name), 'utf8'), schemaText(schema), `${name} is out of date`);
    }
  });

  for (const file of shipped) {
    it(`take ${file} as it is, which says where they are`, () => {
      const text = readFileSync(file, 'utf8');
      const named =
        /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? assert.fail('no schema named');
      const name = basename(named);
      assert.equal(join(dirname(file), named), join(FOLDER, name));
      assert.equal(name, schemaFileOf(file));
      assert.deepEqual(problemsOf(name, parse(text)), []);
    });
  }

  it('let a layer leave out what the other one has, and not what an item of a list needs', () => {
    assert.deepEqual(problemsOf(SECTIONS_FILE, { policy: { approvalMinutes: 5 } }), []);
    assert.deepEqual(problemsOf(SECTIONS_FILE, { tools: { a_tool: { enabled: false } } }), []);
    assert.deepEqual(problemsOf(SECTIONS_FILE, { owners: [{ id: 'ada' }] }), ['/owners/0 required']);
  });

  it('mark what is misspelt, of the wrong kind, of the wrong form or out of its bounds', () => {
    assert.deepEqual(problemsOf(SECTIONS_FILE, { busines: {} }), [' additionalProperties']);
    assert.deepEqual(problemsOf(SECTIONS_FILE, { shift: { enabled: 'yes' } }), ['/shift/enabled type']);
    assert.deepEqual(problemsOf(SECTIONS_FILE, { limits: { maxCandidates: 21 } }), [
      '/limits/maxCandidates maximum',
    ]);
    const account = {
      accountKey: '100200300',
      displayNumber: '0555',
      accessToken: 'a',
      appSecrets: ['b'],
      verifyToken: 'c',
    };
    assert.deepEqual(problemsOf(SECTIONS_FILE, { channels: { whatsapp: [account] } }), [
      '/channels/whatsapp/0/displayNumber pattern',
    ]);
    const words = { sentences: { acknowledgment: 'One moment.' } };
    assert.deepEqual(problemsOf(PHRASES_FILE, words), ['/sentences additionalProperties']);
  });
});
