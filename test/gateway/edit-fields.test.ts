// A form made of a tool's schema, and what comes back from it, without any page.
import assert from 'node:assert/strict';
import { schemaFindings } from '../../activities/validation/argument-schema.js';
import { fieldsOf, findingInWords, inputName, readForm } from '../../gateway/web/console/edit-fields.js';
import { loadConfiguration } from '../../config/load.js';
import type { JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';

const properties: JsonObject = {
  day: { type: 'string', format: 'date' },
  at: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' },
  code: { type: 'string', pattern: '^[A-Z]{3}$' },
  name: { type: 'string', minLength: 2, maxLength: 40 },
  story: { type: 'string', maxLength: 500 },
  mail: { type: 'string', format: 'email' },
  count: { type: 'integer', minimum: 1, maximum: 9 },
  price: { type: 'number', minimum: 0 },
  urgent: { type: 'boolean' },
  size: { type: 'string', enum: ['small', 'extra_large'] },
  items: { type: 'array', items: { type: 'string' } },
  account: { type: 'string' },
  token: { type: 'string' },
};

function toolWith(changes: Partial<ToolDefinition> = {}): ToolDefinition {
  const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
  const [tool] = shipped?.tools ?? [];
  assert.ok(tool);
  return {
    ...tool,
    inputSchema: { type: 'object', additionalProperties: false, required: ['day', 'count'], properties },
    managedFields: ['account'],
    secretFields: ['token'],
    ...changes,
  };
}

const BEFORE: JsonObject = {
  day: '2026-12-05',
  at: '10:30',
  name: 'Anna',
  count: 2,
  price: 1.5,
  urgent: true,
  size: 'small',
  items: ['a', 'b'],
  account: 'acc-1',
  token: 'shh',
};

describe('the form of a request', () => {
  const tool = toolWith();
  const typed = (texts: Record<string, string>, before = BEFORE) => {
    const form = new Map(Object.entries(texts).map(([name, text]) => [inputName({ name }), text]));
    return readForm(fieldsOf(tool, before), before, form);
  };

  it('has the right kind of field for each argument, and none for what nobody may set', () => {
    const { fields, fixed } = fieldsOf(tool, BEFORE);
    assert.deepEqual(Object.fromEntries(fields.map(({ name, control }) => [name, control.kind])), {
      day: 'date',
      at: 'time',
      code: 'line',
      name: 'line',
      story: 'lines',
      mail: 'line',
      count: 'number',
      price: 'number',
      urgent: 'choice',
      size: 'choice',
      items: 'json',
    });
    assert.deepEqual(fixed, { account: 'acc-1' }, 'what the runtime fills is shown, a secret is not');
    assert.deepEqual(
      fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      ['day', 'count'],
    );
  });

  it('says its limits in words', () => {
    const hints = new Map(fieldsOf(tool, BEFORE).fields.map(({ name, hint }) => [name, hint]));
    assert.equal(hints.get('name'), 'At least 2 characters, at most 40 characters.');
    assert.equal(hints.get('count'), 'A whole number, from 1 to 9.');
    assert.equal(hints.get('price'), 'A number, 0 or more.');
  });

  it('becomes a field of text where the present value is none of its kind', () => {
    const { fields } = fieldsOf(tool, { ...BEFORE, day: 'Saturday', size: 'huge', count: 'two' });
    const kinds = new Map(fields.map(({ name, control }) => [name, control.kind]));
    assert.deepEqual(
      [kinds.get('day'), kinds.get('size'), kinds.get('count')],
      ['line', 'line', 'json'],
      'nothing that stands there is lost from sight',
    );
  });

  it('keeps what nobody has touched to the letter', () => {
    const before = { ...BEFORE, story: 'one\r\ntwo\rthree', price: 1e21 };
    const { fields } = fieldsOf(tool, before);
    const sent = Object.fromEntries(
      fields.map(({ name, text }) => [name, text.replaceAll(/\r\n?|\n/g, '\r\n')]),
    );
    assert.deepEqual(typed(sent, before).values, before);
    assert.deepEqual(typed({}, before).values, before, 'a form that brings nothing changes nothing');
  });

  it('makes values of the schema’s types of what was typed, and leaves out what was emptied', () => {
    const { values, unreadable } = typed({
      at: '11:00',
      count: '7',
      price: '2.25',
      urgent: 'false',
      size: '"extra_large"',
      items: '["c"]',
      name: '',
    });
    assert.deepEqual(unreadable, []);
    assert.deepEqual(values, {
      day: '2026-12-05',
      at: '11:00',
      count: 7,
      price: 2.25,
      urgent: false,
      size: 'extra_large',
      items: ['c'],
      account: 'acc-1',
      token: 'shh',
    });
  });

  it('guesses nothing: what is no value of its type goes to the schema as it was typed', () => {
    const { values } = typed({ count: '7 or 8', urgent: 'perhaps', size: 'medium' });
    assert.deepEqual([values['count'], values['urgent'], values['size']], ['7 or 8', 'perhaps', 'medium']);
    assert.deepEqual(typed({ items: '[1,' }).unreadable, ['items']);
  });

  it('sets neither what the runtime fills nor a secret, whatever a form says', () => {
    const { values } = typed({ account: 'acc-2', token: 'mine', other: 'x' });
    assert.deepEqual(values, BEFORE);
  });

  it('says in words what the schema doesn’t take', () => {
    const wrong: JsonObject = {
      day: '2026-02-30',
      at: '25:00',
      code: 'x',
      name: 'A',
      count: 12,
      size: 'medium',
    };
    const { invalid } = schemaFindings(tool.inputSchema, wrong);
    const words = invalid.map((place) => {
      const [pointer = '', rule = ''] = place.split(' ');
      const name = pointer.slice(1);
      const schema = properties[name];
      assert.ok(typeof schema === 'object' && schema !== null && !Array.isArray(schema));
      return `${name}: ${findingInWords({ path: '', rule }, schema)}`;
    });
    assert.deepEqual(words.sort(), [
      'at: This has to be a time of day, such as 10:30.',
      'code: This is not of the form that the tool takes.',
      'count: This is too much: at most 9.',
      'day: This has to be a day that exists, as YYYY-MM-DD.',
      'name: This is too short: at least 2 characters.',
      'size: This is none of the values that the tool takes.',
    ]);
  });
});
