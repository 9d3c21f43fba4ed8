import Anthropic, { type APIError } from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { PLAIN, callOf, clientFor, dialogue, startModel, textOf, type RunningModel } from './model-server.js';

const HELLO = { ...PLAIN, messages: dialogue('Hello') };
const TOOL = { name: 'a', description: 'Does something.', input_schema: { type: 'object' as const } };

describe('scripted answers and faults', () => {
  let model: RunningModel;
  before(async () => {
    model = await startModel('scenario');
  });
  after(() => model.close());
  beforeEach(async () => {
    await control('DELETE', 'scenario');
    await control('DELETE', 'requests');
  });

  const control = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${model.url}/control/${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  const queue = async (...answers: object[]): Promise<void> => {
    assert.equal((await control('POST', 'scenario', { answers })).status, 200);
  };
  const create = (rest: object = {}): Promise<Anthropic.Message> =>
    model.client.messages.create({ ...HELLO, ...rest });

  it('gives queued answers in order, then the demo’s', async () => {
    await queue({ text: 'one' }, { text: 'two', times: 2 });
    const texts = [];
    for (let call = 0; call < 4; call += 1) texts.push(textOf(await create()));
    assert.deepEqual(texts.slice(0, 3), ['one', 'two', 'two']);
    assert.match(texts[3] ?? '', /how can I help/i);
  });

  it('gives concurrent requests the answers meant for them', async () => {
    await queue(
      { text: 'for A', match: 'message A' },
      { text: 'for B', match: 'message B' },
      { text: 'with tools', withTools: true },
    );
    const [b, a, tools] = await Promise.all([
      create({ messages: dialogue('message B') }),
      create({ messages: dialogue('message A') }),
      create({ tools: [TOOL] }),
    ]);
    assert.deepEqual([a, b, tools].map(textOf), ['for A', 'for B', 'with tools']);
  });

  it('calls tools as told, also with doubled ids', async () => {
    await queue(
      { toolUse: [{ name: 'a', input: { x: 1 } }] },
      {
        toolUse: [
          { name: 'a', input: {}, id: 't' },
          { name: 'b', input: {}, id: 't' },
        ],
      },
    );
    const message = await create({ tools: [TOOL] });
    assert.equal(message.stop_reason, 'tool_use');
    assert.deepEqual(callOf(message), { name: 'a', input: { x: 1 } });
    const doubled = await create({ tools: [TOOL] });
    assert.deepEqual(
      doubled.content.map((block) => block.type === 'tool_use' && block.id),
      ['t', 't'],
    );
  });

  it('stops for any reason', async () => {
    await queue(
      { stopReason: 'refusal' },
      { stopReason: 'max_tokens', text: 'half a sent' },
      { stopReason: 'weird' },
    );
    const refusal = await create();
    assert.equal(refusal.stop_reason, 'refusal');
    assert.deepEqual(refusal.content, []);
    assert.equal(refusal.stop_details?.type, 'refusal');
    assert.equal((await create()).stop_reason, 'max_tokens');
    assert.equal(String((await create()).stop_reason), 'weird');
  });

  const errors: [object, new (...args: never[]) => APIError, string][] = [
    [{ status: 400 }, Anthropic.BadRequestError, 'invalid_request_error'],
    [{ status: 401 }, Anthropic.AuthenticationError, 'authentication_error'],
    [{ status: 403 }, Anthropic.PermissionDeniedError, 'permission_error'],
    [{ status: 404 }, Anthropic.NotFoundError, 'not_found_error'],
    [{ status: 413 }, Anthropic.ContentTooLargeError, 'invalid_request_error'],
    [{ status: 429, retryAfter: 2 }, Anthropic.RateLimitError, 'rate_limit_error'],
    [{ status: 500 }, Anthropic.InternalServerError, 'api_error'],
    [{ status: 529 }, Anthropic.OverloadedError, 'overloaded_error'],
    [{ status: 400, errorType: 'billing_error' }, Anthropic.BadRequestError, 'billing_error'],
  ];
  for (const [answer, errorClass, type] of errors) {
    it(`fails with ${JSON.stringify(answer)} as ${errorClass.name}`, async () => {
      await queue(answer);
      await assert.rejects(create(), (error) => {
        assert.ok(error instanceof errorClass);
        assert.equal(error.type, type);
        assert.equal(error.headers?.get('retry-after') ?? null, 'retryAfter' in answer ? '2' : null);
        return true;
      });
    });
  }

  it('waits before an answer', async () => {
    await queue({ delayMs: 150, text: 'late' }, { delayMs: 100 });
    const startedAt = Date.now();
    assert.equal(textOf(await create()), 'late');
    assert.ok(Date.now() - startedAt >= 140);
    assert.match(textOf(await create()), /how can I help/i);
  });

  it('never answers when it is to be silent', async () => {
    await queue({ silence: true });
    await assert.rejects(
      clientFor(model.url, 300).messages.create(HELLO),
      Anthropic.APIConnectionTimeoutError,
    );
  });

  it('drops the connection before anything, and in the middle', async () => {
    await queue({ cutAfterBytes: 0 }, { cutAfterBytes: 40, text: 'a text that never arrives' });
    await assert.rejects(create(), Anthropic.APIConnectionError);
    await assert.rejects(create());
  });

  it('sends half a body', async () => {
    await queue({ halfJson: true, text: 'half' });
    await assert.rejects(create());
  });

  it('breaks streams in the same ways', async () => {
    const whole = { text: 'a text of several pieces, so that there is something to cut' };
    await queue(
      { ...whole, cutAfterBytes: 900 },
      { ...whole, halfJson: true },
      { ...whole, eventDelayMs: 10 },
      { status: 529 },
    );
    const stream = (): Promise<Anthropic.Message> => model.client.messages.stream(HELLO).finalMessage();
    await assert.rejects(stream());
    await assert.rejects(stream());
    const startedAt = Date.now();
    assert.equal(textOf(await stream()), whole.text);
    assert.ok(Date.now() - startedAt >= 80);
    await assert.rejects(stream(), Anthropic.OverloadedError);
  });

  it('sends any body as it is', async () => {
    await queue({ raw: { id: 'x', strange: true } });
    assert.deepEqual(JSON.parse(JSON.stringify(await create())), { id: 'x', strange: true });
  });

  it('says which answers it does not understand, and queues none of them', async () => {
    const answer = await control('POST', 'scenario', { answers: [{ text: 'fine' }, { txt: 'typo' }] });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /txt/);
    assert.deepEqual(await (await control('GET', 'scenario')).json(), { waiting: 0 });
  });

  it('tells what it received, without keys', async () => {
    await queue({ status: 529 });
    await assert.rejects(create({ tools: [TOOL] }));
    await create();
    const body = await (await control('GET', 'requests')).text();
    assert.doesNotMatch(body, /authorization|x-api-key/i);
    const parsed: unknown = JSON.parse(body);
    assert.ok(isReceived(parsed));
    assert.deepEqual(
      parsed.requests.map((request) => request.answeredBy),
      ['scenario', 'demo'],
    );
    assert.deepEqual(parsed.requests[1]?.body.messages, HELLO.messages);
    const counts = await (await control('GET', 'counts')).json();
    assert.deepEqual(
      { ...Object(counts), inputTokens: 0 },
      { total: 2, withTools: 1, withoutTools: 1, inputTokens: 0 },
    );
  });
});

function isReceived(
  body: unknown,
): body is { requests: { answeredBy: string; body: { messages: unknown } }[] } {
  return typeof body === 'object' && body !== null && 'requests' in body && Array.isArray(body.requests);
}
