import Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { NOW, PLAIN, dialogue, startModel, textOf, type RunningModel } from './model-server.js';

const HELLO = { ...PLAIN, messages: dialogue('Hello') };
const TOOL = { name: 'renew_loan', description: 'Renew a loan.', input_schema: { type: 'object' as const } };

describe('the wire format of the local model', () => {
  let model: RunningModel;
  before(async () => {
    model = await startModel('demo');
  });
  after(() => model.close());

  const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${model.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2026-10-21',
        'x-api-key': 'local',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('answers the SDK with a complete message', async () => {
    const { data, request_id } = await model.client.messages.create(HELLO).withResponse();
    assert.match(data.id, /^msg_/);
    assert.equal(data.role, 'assistant');
    assert.equal(data.model, 'any-model');
    assert.equal(data.stop_reason, 'end_turn');
    assert.ok(data.usage.input_tokens > 10 && data.usage.output_tokens > 0);
    assert.match(request_id ?? '', /^req_/);
  });

  it('counts the tools of a request among its tokens', async () => {
    const bare = await model.client.messages.create(HELLO);
    const offering = await model.client.messages.create({ ...HELLO, tools: [TOOL] });
    assert.ok(offering.usage.input_tokens > bare.usage.input_tokens);
    const counted = await model.client.messages.countTokens({ model: 'any-model', messages: HELLO.messages });
    assert.ok(counted.input_tokens > 0);
  });

  it('streams from message_start to message_stop, and the SDK puts the same message together', async () => {
    const types: string[] = [];
    for await (const event of await model.client.messages.create({ ...HELLO, stream: true }))
      types.push(event.type);
    assert.equal(types[0], 'message_start');
    assert.deepEqual(types.slice(-3), ['content_block_stop', 'message_delta', 'message_stop']);
    const streamed = await model.client.messages.stream(HELLO).finalMessage();
    assert.equal(textOf(streamed), textOf(await model.client.messages.create(HELLO)));
  });

  it('streams the input of a call in pieces that the SDK puts together', async () => {
    const tool = {
      name: 'renew_loan',
      description: 'Renew a loan.',
      input_schema: {
        type: 'object' as const,
        required: ['title'],
        properties: { title: { type: 'string', description: 'Title' } },
      },
    };
    const messages = dialogue('Renew "The Left Hand of Darkness, 2nd edition" please');
    const streamed = await model.client.messages.stream({ ...PLAIN, messages, tools: [tool] }).finalMessage();
    assert.equal(streamed.stop_reason, 'tool_use');
    const call = streamed.content[0];
    assert.ok(call?.type === 'tool_use');
    assert.deepEqual(call.input, { title: 'The Left Hand of Darkness, 2nd edition' });
  });

  it('cuts an answer at max_tokens and says so', async () => {
    const message = await model.client.messages.create({ ...HELLO, max_tokens: 2 });
    assert.equal(message.stop_reason, 'max_tokens');
    assert.equal(textOf(message).length, 8);
  });

  it('takes system text as blocks and in the middle of the conversation', async () => {
    const message = await model.client.messages.create({
      ...PLAIN,
      system: [{ type: 'text', text: 'You answer customers.' }],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: NOW },
        { role: 'user', content: 'hello?' },
      ],
    });
    assert.equal(message.stop_reason, 'end_turn');
  });

  it('refuses a request without a key', async () => {
    const answer = await fetch(`${model.url}/v1/messages`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(answer.status, 401);
    const body: unknown = await answer.json();
    assert.deepEqual(body, {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid x-api-key' },
      request_id: answer.headers.get('request-id'),
    });
  });

  it('takes the key as x-api-key and as bearer token', async () => {
    assert.equal((await post(HELLO)).status, 200);
    assert.equal((await post(HELLO, { 'x-api-key': '', authorization: 'Bearer local' })).status, 200);
  });

  const call = (id: string) => ({ type: 'tool_use', id, name: 'renew_loan', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
  const strict = (properties: object, rest: object = { additionalProperties: false }) => [
    { name: 'a', strict: true, input_schema: { type: 'object', properties, ...rest } },
  ];
  const user = (content: unknown) => ({ role: 'user', content });
  const refused: [string, object, RegExp][] = [
    ['temperature', { temperature: 1 }, /^temperature: Extra inputs are not permitted$/],
    ['top_p', { top_p: 0.5 }, /^top_p: Extra inputs/],
    ['top_k', { top_k: 5 }, /^top_k: Extra inputs/],
    ['an unknown field', { tempo: 1 }, /^tempo: Extra inputs/],
    ['no model', { model: undefined }, /^model: Field required/],
    ['no max_tokens', { max_tokens: undefined }, /^max_tokens: Field required/],
    ['max_tokens of zero', { max_tokens: 0 }, /^max_tokens: /],
    ['no messages', { messages: [] }, /^messages: at least one message/],
    ['an empty message', { messages: [user([])] }, /non-empty content/],
    ['an empty text', { messages: [user('')] }, /^messages\.0\.content\.0\.text/],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, /^messages\.0\.role/],
    ['an unknown block', { messages: [user([{ type: 'sound' }])] }, /^messages\.0\.content\.0\.type/],
    ['an assistant first', { messages: [{ role: 'assistant', content: 'x' }, user('y')] }, /first message/],
    [
      'an assistant last',
      { messages: [user('x'), { role: 'assistant', content: 'y' }] },
      /end with a user message/,
    ],
    [
      'a call without its result',
      { messages: [user('x'), { role: 'assistant', content: [call('t1')] }, user('y')] },
      /without `tool_result` blocks immediately after: t1/,
    ],
    ['a result without its call', { messages: [user([result('t9')])] }, /unexpected `tool_use_id`.*t9/],
    [
      'doubled call ids',
      {
        messages: [user('x'), { role: 'assistant', content: [call('t1'), call('t1')] }, user([result('t1')])],
      },
      /ids must be unique/,
    ],
    ['a tool without schema', { tools: [{ name: 'a' }] }, /^tools\.0\.input_schema: Field required/],
    ['a bad tool name', { tools: [{ ...TOOL, name: 'a b' }] }, /^tools\.0\.name/],
    ['doubled tool names', { tools: [TOOL, TOOL] }, /must be unique/],
    [
      'a choice of an unknown tool',
      { tools: [TOOL], tool_choice: { type: 'tool', name: 'b' } },
      /'b' not found/,
    ],
    ['a choice without tools', { tool_choice: { type: 'auto' } }, /while providing tools/],
    ['an unknown choice', { tools: [TOOL], tool_choice: { type: 'maybe' } }, /^tool_choice\.type/],
    [
      'an open strict schema',
      { tools: strict({}, {}) },
      /'additionalProperties' must be explicitly set to false/,
    ],
    [
      'bounds in a strict schema',
      { tools: strict({ n: { type: 'integer', minimum: 1 } }) },
      /For 'integer' type, property 'minimum' is not supported/,
    ],
    [
      'an unknown format in a strict schema',
      { tools: strict({ n: { type: 'string', format: 'phone' } }) },
      /'phone'/,
    ],
  ];
  for (const [what, change, sentence] of refused) {
    it(`refuses ${what}`, async () => {
      const answer = await post({ ...HELLO, ...change });
      assert.equal(answer.status, 400);
      const body: unknown = await answer.json();
      assert.ok(isErrorBody(body));
      assert.equal(body.error.type, 'invalid_request_error');
      assert.match(body.error.message, sentence);
    });
  }

  it('refuses what is no JSON, and a missing version', async () => {
    assert.equal((await post('{"model":')).status, 400);
    assert.equal((await post(HELLO, { 'anthropic-version': '' })).status, 400);
  });

  it('reaches the SDK as a BadRequestError with the API’s words', async () => {
    const request = { ...HELLO, temperature: 1 };
    await assert.rejects(model.client.messages.create(request), (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError);
      assert.equal(error.type, 'invalid_request_error');
      assert.match(error.requestID ?? '', /^req_/);
      return true;
    });
  });

  it('counts requests and keeps none of their contents', async () => {
    const counts: unknown = await (await fetch(`${model.url}/control/counts`)).json();
    assert.ok(isCounts(counts));
    assert.equal(counts.total, counts.withTools + counts.withoutTools);
    assert.ok(counts.total > 0 && counts.inputTokens > 0);
    for (const route of ['requests', 'scenario']) {
      assert.equal((await fetch(`${model.url}/control/${route}`)).status, 404);
    }
  });
});

function isErrorBody(body: unknown): body is { error: { type: string; message: string } } {
  return typeof body === 'object' && body !== null && 'error' in body;
}

function isCounts(
  body: unknown,
): body is Record<'total' | 'withTools' | 'withoutTools' | 'inputTokens', number> {
  return typeof body === 'object' && body !== null && 'total' in body;
}
