import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { z } from 'zod';
import { API_TOKEN, answerRun, askForApproval, startGateway, type TestGateway } from './gateway.js';

const description = z
  .object({
    paths: z.record(z.string(), z.record(z.string(), z.unknown())),
    components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
  })
  .parse(parse(readFileSync('docs/openapi.yaml', 'utf8')));

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Says how a value differs from a schema of the description, or nothing. */
function differs(name: string, value: unknown, isList = false): string | undefined {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'api', components: description.components });
  const one = { $ref: `api#/components/schemas/${name}` };
  const validate = ajv.compile(isList ? { type: 'array', minItems: 1, items: one } : one);
  return validate(value) ? undefined : `${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`;
}

/** `GET /a/:b` for every line of Fastify's tree of routes. */
function routesOf(tree: string): string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] =
      /^((?:│ {3}| {4})*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?/.exec(line) ?? [];
    if (part === '') return [];
    const depth = indent.length / 4;
    const path = `${depth === 0 ? '' : (above[depth - 1] ?? '')}${part}`;
    above.length = depth;
    above.push(path);
    const known = methods.split(', ').filter((method) => method !== '' && method !== 'HEAD');
    return known.map((method) => `${method} ${path}`);
  });
}

describe('the headless API', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway.stop());

  it('has exactly the routes that its description names', () => {
    const described = Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((key) => METHODS.includes(key))
        .map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    const served = routesOf(gateway.app.printRoutes({ commonPrefix: false })).filter((route) =>
      route.includes(' /api/'),
    );
    assert.deepEqual(served.toSorted(), described.toSorted());
  });

  it('lets nobody in without the token', async () => {
    const attempts = [undefined, 'Bearer', 'Bearer wrong', `Basic ${API_TOKEN}`, `Bearer ${API_TOKEN}x`];
    for (const authorization of attempts) {
      for (const url of ['/api/messages', '/api/chats/anna/messages', '/api/nothing-here']) {
        const response = await gateway.app.inject({ url, headers: authorization ? { authorization } : {} });
        assert.equal(response.statusCode, 401, `${authorization} ${url}`);
        assert.equal(differs('Problem', response.json()), undefined);
      }
    }
  });

  it('counts the requests of strangers, and not of those who have the token', async () => {
    const left = async (authorization: string) => {
      const response = await gateway.app.inject({
        url: '/api/chats/nobody/messages',
        headers: { authorization },
      });
      return response.headers['x-ratelimit-remaining'];
    };
    assert.equal(Number(await left('Bearer wrong')) - Number(await left('Bearer wrong')), 1);
    assert.equal(await left(`Bearer ${API_TOKEN}`), undefined);
  });

  it('accepts a message after its commit, and the same one again with the same id', async () => {
    const body = { id: 'm-1', text: 'Is anything free on Saturday?' };
    const first = await gateway.api('POST', '/api/chats/anna/messages', body);
    const again = await gateway.api('POST', '/api/chats/anna/messages', body);
    const other = await gateway.api('POST', '/api/chats/anna/messages', { ...body, text: 'Something else' });
    assert.equal(first.status, 202);
    assert.equal(differs('Accepted', first.json), undefined);
    assert.deepEqual(again, first);
    assert.equal(other.status, 409);
    assert.equal(differs('Problem', other.json), undefined);
  });

  const refused: [string, string, unknown, number][] = [
    ['an empty text', 'anna', { id: 'r-1', text: '  ' }, 400],
    ['a text that is too long', 'anna', { id: 'r-2', text: 'x'.repeat(5000) }, 413],
    ['a body of more than 1 MB', 'anna', { id: 'r-3', text: 'x'.repeat(1_100_000) }, 413],
    ['a NUL', 'anna', { id: 'r-4', text: 'a\0' }, 400],
    ['half a character', 'anna', { id: 'r-5', text: '\uD800' }, 400],
    ['a field nobody knows', 'anna', { id: 'r-6', text: 'x', from: 'owner' }, 400],
    ['an id with spaces', 'anna', { id: 'r 7', text: 'x' }, 400],
    ['a chat id with a slash in it', 'an%2Fna', { id: 'r-8', text: 'x' }, 400],
    ['a chat id of 65 characters', 'a'.repeat(65), { id: 'r-9', text: 'x' }, 400],
    ['a list', 'anna', [], 400],
  ];
  for (const [name, chat, body, status] of refused) {
    it(`answers ${status} for ${name}`, async () => {
      const answer = await gateway.api('POST', `/api/chats/${chat}/messages`, body);
      assert.equal(answer.status, status);
      assert.equal(differs('Problem', answer.json), undefined);
    });
  }

  it('says so when the body is not JSON, or nested beyond sense', async () => {
    for (const payload of [
      '{"id": ',
      '[['.repeat(20_000),
      '{"__proto__": {"a": 1}, "id": "x", "text": "y"}',
    ]) {
      const response = await gateway.app.inject({
        method: 'POST',
        url: '/api/chats/anna/messages',
        headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' },
        payload,
      });
      assert.equal(response.statusCode, 400, payload.slice(0, 20));
      assert.equal(differs('Problem', response.json()), undefined);
    }
  });

  it('lists both sides of a chat in one order, and what each answer answers', async () => {
    const run = await askForApproval(gateway, {
      chat: 'list',
      text: 'Book 10:30',
      arguments: { time: '10:30' },
    });
    await gateway.write('list', 'Are you there?', 'second');
    await answerRun(gateway, run, 'Booked.');
    const { json } = await gateway.api('GET', '/api/chats/list/messages');
    assert.equal(differs('Message', json, true), undefined);
    const messages = z.array(z.record(z.string(), z.unknown())).parse(json);
    assert.deepEqual(
      messages.map(({ sequence, from, text, state }) => [sequence, from, text, state]),
      [
        [1, 'customer', 'Book 10:30', 'answered'],
        [2, 'assistant', 'I have asked.', 'sent'],
        [3, 'customer', 'Are you there?', 'accepted'],
        [4, 'assistant', 'Booked.', 'sent'],
      ],
    );
    assert.equal(messages[3]?.['answers'], messages[0]?.['id']);
    const later = await gateway.api('GET', '/api/chats/list/messages?after=2');
    assert.equal(z.array(z.unknown()).parse(later.json).length, 2);
    assert.deepEqual((await gateway.api('GET', '/api/chats/nobody/messages')).json, []);
  });

  it('lists approvals with their exact arguments and decides each once', async () => {
    const asked = { date: '2026-12-05', time: '10:30' };
    const { ref, turnId, approvalId } = await askForApproval(gateway, {
      chat: 'ask',
      text: 'Book',
      arguments: asked,
    });
    const open = await gateway.api('GET', '/api/approvals?state=open');
    assert.equal(differs('Approval', open.json, true), undefined);
    const mine = z
      .array(z.looseObject({ ref: z.string() }))
      .parse(open.json)
      .find((one) => one.ref === ref);
    assert.deepEqual(mine?.['arguments'], asked);
    assert.equal(mine?.['chat'], 'ask');

    const yes = await gateway.api('POST', `/api/approvals/${ref}`, { decision: 'approve' });
    assert.equal(yes.status, 200);
    assert.equal(differs('Decided', yes.json), undefined);
    assert.deepEqual(gateway.conversations.calls.at(-1), { what: 'wake', turnId, approvalId });
    const no = await gateway.api('POST', `/api/approvals/${ref}`, { decision: 'reject' });
    assert.equal(no.status, 409);
    assert.match(JSON.stringify(no.json), /decided before: it is approved/);
  });

  it('lets one of two answers at the same moment win', async () => {
    const { ref } = await askForApproval(gateway, { chat: 'race', text: 'Book', arguments: {} });
    const answers = await Promise.all(
      ['approve', 'reject', 'approve', 'reject'].map((decision) =>
        gateway.api('POST', `/api/approvals/${ref}`, { decision }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
  });

  it('tells late, unknown and malformed answers apart', async () => {
    const { ref } = await askForApproval(gateway, {
      chat: 'late',
      text: 'x',
      arguments: {},
      expiresInMs: -1000,
    });
    const table: [string, unknown, number][] = [
      [ref, { decision: 'approve' }, 410],
      ['Z-ZZZZ', { decision: 'approve' }, 404],
      ['nonsense', { decision: 'approve' }, 400],
      [ref, { decision: 'maybe' }, 400],
      [ref, { decision: 'reject', reason: 'x'.repeat(501) }, 400],
    ];
    for (const [key, body, status] of table) {
      const answer = await gateway.api('POST', `/api/approvals/${key}`, body);
      assert.equal(answer.status, status, `${key} ${JSON.stringify(body)}`);
      assert.equal(differs('Problem', answer.json), undefined);
    }
  });

  it('edits an approval, which asks again under another REF, and shows both', async () => {
    const asked = { date: '2026-12-07', time: '10:30' };
    const { ref, turnId, approvalId, stepId } = await askForApproval(gateway, {
      chat: 'edit',
      text: 'Book',
      arguments: asked,
    });
    await gateway.inScope(gateway.tenantId, ({ tx }) =>
      tx.step.update({ where: { id: stepId }, data: { ordinal: 0 } }),
    );
    const edit = (values: unknown): Promise<{ status: number; json: unknown }> =>
      gateway.api('POST', `/api/approvals/${ref}`, { decision: 'edit', arguments: values });
    const refused: [unknown, number][] = [
      [undefined, 400],
      [{ time: '11:00' }, 400],
      [{ ...asked, time: 11 }, 400],
      [{ ...asked, price: 5 }, 400],
      [asked, 400],
    ];
    for (const [values, status] of refused) {
      const answer = await edit(values);
      assert.equal(answer.status, status, JSON.stringify(values));
      assert.equal(differs('Problem', answer.json), undefined);
    }
    const wanted = { ...asked, time: '11:00' };
    const { status, json } = await edit(wanted);
    assert.equal(status, 200);
    assert.equal(differs('Decided', json), undefined);
    assert.deepEqual(gateway.conversations.calls.at(-1), { what: 'wake', turnId, approvalId });
    const { newRef } = z.object({ newRef: z.string() }).parse(json);

    const read = async (key: string): Promise<Record<string, unknown>> => {
      const answer = await gateway.api('GET', `/api/approvals/${key}`);
      assert.equal(differs('Approval', answer.json), undefined);
      return z.record(z.string(), z.unknown()).parse(answer.json);
    };
    const [before, after] = [await read(ref), await read(newRef)];
    assert.deepEqual([before['state'], before['arguments'], before['replacedBy']], ['edited', asked, newRef]);
    assert.deepEqual([after['state'], after['arguments'], after['replaces']], ['open', wanted, ref]);
    const late = await gateway.api('POST', `/api/approvals/${ref}`, { decision: 'approve' });
    assert.equal(late.status, 409);
    assert.match(JSON.stringify(late.json), new RegExp(`asks again as ${newRef}`));
    assert.equal((await gateway.api('GET', '/api/approvals/Z-ZZZZ')).status, 404);
    assert.equal((await gateway.api('GET', '/api/approvals/nonsense')).status, 400);
  });

  it('looks no code up any more after many wrong ones', async () => {
    const { ref } = await askForApproval(gateway, { chat: 'guess', text: 'Book', arguments: {} });
    const tries = ['Z-AAAA', 'Z-CCCC', 'Z-DDDD', 'Z-EEEE', 'Z-FFFF', ref];
    const statuses: number[] = [];
    for (const key of tries) {
      statuses.push((await gateway.api('POST', `/api/approvals/${key}`, { decision: 'approve' })).status);
    }
    assert.equal(statuses.at(-1), 429);
  });

  it('shows runs, one run, and open messages as described', async () => {
    const { turnId } = await askForApproval(gateway, {
      chat: 'runs',
      text: 'Book',
      arguments: { time: '9:00' },
    });
    const runs = await gateway.api('GET', '/api/runs');
    assert.equal(differs('Run', runs.json, true), undefined);
    const one = await gateway.api('GET', `/api/runs/${turnId}`);
    assert.equal(differs('RunStory', one.json), undefined);
    assert.match(JSON.stringify(one.json), new RegExp(`namespaces/default/workflows/tool-run%2F${turnId}`));
    const open = await gateway.api('GET', '/api/messages?state=open');
    assert.equal(differs('CustomerMessage', open.json, true), undefined);
    assert.equal((await gateway.api('GET', `/api/runs/${randomUUID()}`)).status, 404);
    assert.equal((await gateway.api('GET', '/api/runs/x')).status, 400);
  });
});

describe('the event stream of a chat', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  let url: string;
  before(async () => {
    gateway = await startGateway();
    url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(async () => gateway.stop());

  /** Reads events until there are `count`, then hangs up. */
  async function read(count: number, headers: Record<string, string> = {}, chat = 'anna') {
    const hangUp = new AbortController();
    const response = await fetch(`${url}/api/chats/${chat}/events`, {
      headers: { authorization: `Bearer ${API_TOKEN}`, ...headers },
      signal: hangUp.signal,
    });
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const events: { id: string; data: Record<string, unknown> }[] = [];
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, id] = /^id: (.*)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (id === undefined || data === undefined) continue;
        events.push({ id, data: z.record(z.string(), z.unknown()).parse(JSON.parse(data)) });
      }
      if (events.length >= count) break;
    }
    hangUp.abort();
    return events;
  }

  it('tells each new message, and again when its state has changed', async () => {
    const reading = read(5);
    const run = await askForApproval(gateway, { chat: 'anna', text: 'Book 10:30', arguments: {} });
    await answerRun(gateway, run, 'Booked.');
    await gateway.write('anna', 'Thanks');
    const seen = (await reading).map(({ data }) => `${String(data['sequence'])} ${String(data['state'])}`);
    assert.ok(
      seen.includes('1 answered') && seen.includes('3 sent') && seen.includes('4 accepted'),
      seen.join(', '),
    );
  });

  it('goes on after the last event that the reader has', async () => {
    const all = await read(4);
    const last = all.at(-1);
    const reading = read(1, { 'last-event-id': last?.id ?? '' });
    await gateway.write('anna', 'One more');
    const sequences = (await reading).map(({ data }) => data['sequence']);
    assert.ok(sequences.every((sequence) => typeof sequence === 'number'));
    const bare = await read(1, { 'last-event-id': '4' });
    assert.equal(bare[0]?.data['sequence'], 5);
  });

  it('tells nothing of other chats, and begins with the first message of a new one', async () => {
    const reading = read(1, {}, 'new-chat');
    await gateway.write('anna', 'Not for you');
    await gateway.write('new-chat', 'For you');
    assert.equal((await reading)[0]?.data['text'], 'For you');
  });
});
