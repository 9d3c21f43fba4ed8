import assert from 'node:assert/strict';
import { jsonSchemaProblems } from '../../config/schema/json-schema.js';
import type { Json, JsonObject } from '../../workflows/domain/tool.js';

function objectWith(property: Json): JsonObject {
  return { type: 'object', additionalProperties: false, properties: { value: property } };
}

describe('the schema of a tool', () => {
  it('may describe nested objects and bounded lists', () => {
    const inner = { ...objectWith({ type: 'integer', minimum: 1 }), required: ['value'] };
    assert.deepEqual(jsonSchemaProblems(objectWith({ type: 'array', maxItems: 3, items: inner })), []);
  });

  const refused: { name: string; schema: JsonObject; path: string }[] = [
    { name: 'is a list', schema: { type: 'array', items: { type: 'string' } }, path: 'type' },
    {
      name: 'has no additionalProperties',
      schema: { type: 'object', properties: {} },
      path: 'additionalProperties',
    },
    {
      name: 'has patternProperties',
      schema: { ...objectWith({ type: 'string' }), patternProperties: {} },
      path: 'patternProperties',
    },
    { name: 'branches', schema: objectWith({ anyOf: [{ type: 'string' }] }), path: 'properties.value.type' },
    { name: 'refers', schema: objectWith({ type: 'string', $ref: '#/x' }), path: 'properties.value.$ref' },
    {
      name: 'has several types',
      schema: objectWith({ type: ['string', 'null'] }),
      path: 'properties.value.type',
    },
    {
      name: 'has an open object inside',
      schema: objectWith({ type: 'object', properties: {} }),
      path: 'properties.value.additionalProperties',
    },
    { name: 'has an untyped list', schema: objectWith({ type: 'array' }), path: 'properties.value.items' },
    {
      name: 'has a format nobody checks',
      schema: objectWith({ type: 'string', format: 'colour' }),
      path: 'properties.value.format',
    },
    {
      name: 'requires what it does not have',
      schema: { ...objectWith({ type: 'string' }), required: ['other'] },
      path: 'required.0',
    },
    {
      name: 'names an argument in a way models refuse',
      schema: { type: 'object', additionalProperties: false, properties: { 'a b': { type: 'string' } } },
      path: 'properties.a b',
    },
    {
      name: 'has a pattern that does not compile',
      schema: objectWith({ type: 'string', pattern: '(' }),
      path: '',
    },
    {
      name: 'has a bound that is no number',
      schema: objectWith({ type: 'string', maxLength: 'x' }),
      path: '',
    },
  ];

  for (const { name, schema, path } of refused) {
    it(`is refused when it ${name}`, () => {
      const paths = jsonSchemaProblems(schema).map((problem) => problem.path.join('.'));
      assert.ok(paths.includes(path), `${path} is not among ${JSON.stringify(paths)}`);
    });
  }

  it('is refused when it is nested without end', () => {
    let schema: Json = { type: 'string' };
    for (let depth = 0; depth < 20; depth++) schema = objectWith(schema);
    assert.match(jsonSchemaProblems(objectWith(schema))[0]?.wrong ?? '', /too deeply/);
  });
});
