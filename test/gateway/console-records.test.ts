// The console's records: chats, one conversation, the account of messages, runs with filters, search. Over a real Postgres.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { LightMyRequestResponse } from 'fastify';
import { DateTime } from 'luxon';
import { transports } from 'winston';
import { createLogger } from '../../config/logger.js';
import type { IncomingMessage } from '../../gateway/incoming-message.js';
import { createServer } from '../../gateway/server.js';
import { createContentCipher } from '../../prisma/content.js';
import { openDatabase } from '../../prisma/database.js';
import { openSession } from '../../prisma/stores/chat-sessions.js';
import { openRequest } from '../../prisma/stores/operator-requests.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { takeChat } from '../../prisma/stores/takeover.js';
import { listConversations } from '../../prisma/stores/views/conversations.js';
import { listMessages } from '../../prisma/stores/views/messages.js';
import { listRuns } from '../../prisma/stores/views/runs.js';
import { search } from '../../prisma/stores/views/search.js';
import { transcriptOf } from '../../prisma/stores/views/transcript.js';
import { addTenant } from '../support/tenants.js';
import {
  API_TOKEN,
  answerRun,
  askForApproval,
  recordedConversations,
  startGateway,
  type TestGateway,
} from './gateway.js';

const HTML = { accept: 'text/html' };
const NUMBER = '905551110001';
const WHATSAPP = 'records-number';

describe('the records of the console', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  let cookies: Record<string, string>;
  let csrf: string;

  before(async () => {
    gateway = await startGateway();
    gateway.configuration.operators = [
      { id: 'kaya', name: 'Dr. Kaya', addresses: { whatsapp: ['+905550000099'] } },
    ];
    await gateway.inScope(gateway.tenantId, ({ tx, tenantId }) =>
      tx.channelAccount.create({
        data: { id: randomUUID(), tenantId, channel: 'whatsapp-cloud', accountKey: WHATSAPP },
      }),
    );
    const url = await gateway.loginLink();
    const page = await gateway.app.inject({ url, headers: HTML });
    csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    cookies = cookiesOf(page);
    const answer = await gateway.app.inject({
      method: 'POST',
      url,
      cookies,
      headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ _csrf: csrf }).toString(),
    });
    cookies = { ...cookies, ...cookiesOf(answer) };
  });
  after(async () => gateway.stop());

  const cookiesOf = (response: LightMyRequestResponse): Record<string, string> =>
    Object.fromEntries(response.cookies.map(({ name, value }) => [name, value]));

  const get = (url: string): Promise<LightMyRequestResponse> =>
    gateway.app.inject({ url, cookies, headers: HTML });
  async function textOf(url: string): Promise<string> {
    const page = await get(url);
    assert.equal(page.statusCode, 200, url);
    return wordsOf(page.body);
  }

  function post(url: string, form: Record<string, string>, token: string): Promise<LightMyRequestResponse> {
    return gateway.app.inject({
      method: 'POST',
      url,
      cookies,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'hx-request': 'true',
        'x-csrf-token': token,
      },
      payload: new URLSearchParams(form).toString(),
    });
  }

  async function onWhatsApp(
    message: Pick<IncomingMessage, 'text'> & Partial<IncomingMessage>,
  ): Promise<{ chatId: string; messageId: string }> {
    return gateway.inbox.acceptMessage({
      channel: 'whatsapp-cloud',
      accountKey: WHATSAPP,
      chatAddress: NUMBER,
      externalId: `wamid.${randomUUID()}`,
      kind: 'text',
      details: { profileName: 'Ayşe Işık' },
      ...message,
    });
  }

  /** A message of ours, as a delivery has left it. */
  async function ours(
    chatId: string,
    text: string,
    row: { state: string; code?: string; delivery?: string; externalId?: string },
  ): Promise<string> {
    return gateway.inScope(gateway.tenantId, async (scope) => {
      const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
      const origin = { kind: 'answer', id: randomUUID() };
      const { outboxId } = await planMessage(scope, {
        chatId,
        contactId,
        turnId: null,
        origin,
        kind: 'answer',
        text,
      });
      const { lastSequence } = await scope.tx.chat.update({
        where: { id: chatId },
        data: row.state === 'sent' ? { lastSequence: { increment: 1 } } : {},
      });
      const { state, code = null, delivery = null, externalId = null } = row;
      await scope.tx.outbox.update({
        where: { id: outboxId },
        data: {
          state,
          code,
          externalId,
          deliveryStatus: delivery,
          ...(state === 'sent' && { sequence: lastSequence, settledAt: new Date() }),
        },
      });
      return outboxId;
    });
  }

  async function askOperator(chatId: string): Promise<string> {
    return gateway.inScope(gateway.tenantId, async (scope) => {
      const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
      const run = await scope.tx.step.findFirstOrThrow({ where: { run: { chatId } } });
      const { request } = await openRequest(scope, {
        chatId,
        contactId,
        turnId: run.turnId,
        stepId: run.id,
        operatorId: 'kaya',
        kind: 'conversation',
        expiresAt: new Date(Date.now() + 3_600_000),
      });
      return request.ref;
    });
  }

  it('says on every page what will appear there, as long as nothing has', async () => {
    const pages: [string, RegExp][] = [
      ['/console/conversations', /Nobody has written yet/],
      ['/console/conversations?show=taken', /The assistant has every chat/],
      ['/console/conversations?show=asked', /No operator is being asked/],
      ['/console/conversations?show=open', /Nothing is open/],
      ['/console/runs', /No runs yet/],
      ['/console/runs?state=failed', /No run is like that/],
      ['/console/messages', /Nothing waits/],
      ['/console/messages?show=settled', /No message yet/],
      ['/console/messages?show=undelivered', /Everything arrived/],
      ['/console/search', /Find a chat, a run, a message/],
      ['/console/search?q=905550000000', /Nothing found/],
    ];
    for (const [url, words] of pages) assert.match(await textOf(url), words, url);
  });

  it('shows a conversation in its order, and tells everybody in it apart', async () => {
    const { chatId } = await onWhatsApp({ text: 'Is my bike ready?' });
    await ours(chatId, 'It is nearly done.', { state: 'sent', delivery: 'read' });
    await onWhatsApp({ text: 'Ten more minutes', speaker: 'business', arrival: 'human', leaseMs: 3_600_000 });
    await onWhatsApp({
      text: 'Security code changed',
      kind: 'system',
      speaker: 'platform',
      arrival: 'system',
    });
    await ours(chatId, 'Your bike is ready.', { state: 'planned' });
    await ours(chatId, 'Come by.', { state: 'unknown', code: 'no_answer' });
    await ours(chatId, 'Bye.', { state: 'failed', code: 'window_closed' });
    const text = await textOf(`/console/conversations/${chatId}`);
    const inOrder = [
      /Ayşe Işık/,
      /With.*\+905551110001/,
      /Somebody on our phone/,
      /24-hour window Open closes/,
      /Customer Is my bike ready\?/,
      /Open/,
      /Assistant It is nearly done\./,
      /Read/,
      /Somebody on our phone Ten more minutes/,
      /Platform Notice Security code changed/,
      /Assistant Your bike is ready\./,
      /Held until the chat comes back/,
      /Assistant Come by\./,
      /May not have arrived the platform did not answer/,
      /Assistant Bye\./,
      /Not delivered the 24-hour window was closed/,
    ];
    let rest = text;
    for (const words of inOrder) {
      const at = rest.search(words);
      assert.ok(at >= 0, `${String(words)} in: ${rest}`);
      rest = rest.slice(at);
    }
    const list = await textOf('/console/conversations');
    assert.match(list, /Ayşe Işık \+905551110001/);
    assert.match(list, /With somebody on our phone until/);
    assert.match(list, /1 open/);
  });

  it('leads from a run to its message and from a message to its run', async () => {
    const asked = await askForApproval(gateway, { chat: 'there-and-back', text: 'Book it', arguments: {} });
    await answerRun(gateway, asked, 'It is booked.');
    const run = await get(`/console/runs/${asked.turnId}`);
    const links = [...run.body.matchAll(/href="([^"]+)">in the chat</g)].map(([, href]) => href ?? '');
    assert.equal(links.length, 3);
    for (const link of links) {
      const [address = '', id = ''] = link.split('#');
      const { body } = await get(address);
      assert.ok(body.includes(`id="${id}"`), link);
      assert.ok(body.includes(`href="/console/runs/${asked.turnId}"`));
    }
  });

  it('shows whom an operator’s question went to, on the lists, on the run and in the conversation', async () => {
    const asked = await askForApproval(gateway, { chat: 'asks-a-doctor', text: 'A photo', arguments: {} });
    const ref = await askOperator(asked.chatId);
    const pages = [
      '/console/conversations',
      `/console/conversations/${asked.chatId}`,
      `/console/runs/${asked.turnId}`,
      `/console/search?q=${ref}`,
    ];
    for (const url of pages)
      assert.match(await textOf(url), new RegExp(`${ref} Dr\\. Kaya.*Waiting for an answer ends`), url);
    assert.match(await textOf('/console/conversations?show=asked'), /A photo|I have asked/);
    assert.match(await textOf(`/console/runs/${asked.turnId}`), /An operator was asked/);
  });

  it('lists chats by who has them, and by what is open in them', async () => {
    const taken = await gateway.write('taken-chat', 'I want a person');
    await gateway.inScope(gateway.tenantId, (scope) =>
      takeChat(scope, { chatId: taken.chatId, by: 'owner:deniz' }),
    );
    const quiet = await gateway.write('quiet-chat', 'Thanks, bye');
    await settle(quiet.messageId, 'ignored', 'reaction');
    const shown = async (show: string): Promise<string[]> =>
      [...(await get(`/console/conversations?show=${show}`)).body.matchAll(/id="chat-([^"]+)"/g)].map(
        ([, id]) => id ?? '',
      );
    assert.ok((await shown('taken')).includes(taken.chatId));
    assert.ok(!(await shown('taken')).includes(quiet.chatId));
    assert.ok((await shown('open')).includes(taken.chatId));
    assert.ok(!(await shown('open')).includes(quiet.chatId));
    assert.match(await textOf('/console/conversations?show=taken'), /With Deniz \(owner\)/);
  });

  it('lets an owner take a chat over from its page, and give it back', async () => {
    const { chatId } = await gateway.write('to-be-taken', 'A difficult question');
    const say = (form: Record<string, string>, token = csrf): Promise<LightMyRequestResponse> =>
      post(`/console/conversations/${chatId}/desk`, form, token);
    assert.equal((await say({ to: 'person', hours: '1' }, 'wrong')).statusCode, 403);
    assert.equal((await say({ to: 'person', hours: '99' })).statusCode, 400);
    gateway.conversations.calls.length = 0;
    const taken = wordsOf((await say({ to: 'person', hours: '1' })).body);
    assert.match(
      taken,
      /Deniz \(owner\) since just now , until.*The assistant is silent.*You have this chat now/,
    );
    const back = wordsOf((await say({ to: 'assistant' })).body);
    assert.match(back, /The assistant answers in this chat again/);
    assert.match(wordsOf((await say({ to: 'assistant' })).body), /had this chat already/);
    assert.deepEqual(gateway.conversations.calls, [
      { what: 'desk', chatId },
      { what: 'desk', chatId },
    ]);
    const missing = await post(`/console/conversations/${randomUUID()}/desk`, { to: 'person' }, csrf);
    assert.equal(missing.statusCode, 404);
  });

  it('lets an owner close the matter: its session is over, and the chat is the assistant’s', async () => {
    const { chatId } = await gateway.write('to-be-closed', 'A matter of weeks');
    const close = async (): Promise<string> =>
      wordsOf((await post(`/console/conversations/${chatId}/desk`, { to: 'nobody' }, csrf)).body);
    assert.match(await close(), /Nothing was open in this chat/);
    await gateway.inScope(gateway.tenantId, async (scope) => {
      await openSession(scope, { chatId, graceMs: 0, debounceMaxMs: 0 });
      await takeChat(scope, { chatId, by: 'owner:deniz' });
    });
    const page = await textOf(`/console/conversations/${chatId}`);
    assert.match(page, /Give it back The matter is done/);
    gateway.conversations.calls.length = 0;
    assert.match(await close(), /The matter is closed. What comes next begins anew/);
    assert.deepEqual(gateway.conversations.calls, [{ what: 'desk', chatId }]);
    const after = await textOf(`/console/conversations/${chatId}`);
    assert.match(after, /The assistant .*Over closed by hand/);
    assert.doesNotMatch(after, /The matter is done/);
  });

  it('says of each message what became of it and why', async () => {
    const { messageId } = await gateway.write('ledger', 'Where is my refund?');
    assert.match(await textOf('/console/messages?show=open'), /Just came Where is my refund\?/);
    await settle(messageId, 'handed_off', 'transactional_support');
    assert.doesNotMatch(await textOf('/console/messages?show=open'), /Where is my refund\?/);
    assert.match(
      await textOf('/console/messages?show=settled'),
      /Handed to a person about a payment, refund or order Where is my refund\?/,
    );
    await settle(messageId, 'handed_off', 'not delivered (131047)');
    assert.match(
      await textOf('/console/messages?show=all'),
      /our answer did not arrive: the platform’s error 131047/,
    );
  });

  it('pages through long conversations and long lists without losing or repeating a line', async () => {
    const first = await gateway.write('long-chat', 'Line 1');
    for (let number = 2; number <= 105; number += 1) await gateway.write('long-chat', `Line ${number}`);
    const seen: string[] = [];
    let url: string | undefined = `/console/conversations/${first.chatId}`;
    while (url !== undefined) {
      const { body } = await get(url);
      const lines = [...body.matchAll(/<li class="talk-line[^>]*id="message-([^"]+)"/g)].map(
        ([, id]) => id ?? '',
      );
      assert.ok(lines.length <= 50, url);
      seen.unshift(...lines);
      url = /href="([^"]+)" id="to-older"/.exec(body)?.[1];
    }
    assert.equal(seen.length, 105);
    assert.equal(new Set(seen).size, 105);

    const listed: string[] = [];
    url = '/console/messages?show=all';
    while (url !== undefined) {
      const { body } = await get(url);
      listed.push(...[...body.matchAll(/id="line-([^"]+)"/g)].map(([, id]) => id ?? ''));
      url = /href="([^"]+)" id="to-older"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    }
    const rows = await gateway.inScope(gateway.tenantId, ({ tx }) => tx.inbox.count());
    assert.equal(listed.length, rows);
    assert.equal(new Set(listed).size, rows);
  });

  it('answers a place in a list that can’t be one with a 400, whatever is wrong with it', async () => {
    const id = randomUUID();
    const places = [
      ...[
        `2026-13-45T99:99:99.000000Z_${id}`,
        `2026-02-30T10:00:00.000000Z_${id}`,
        `0000-01-01T10:00:00.000000Z_${id}`,
        '2026-02-20T10:00:00.000000Z_------------------------------------',
        `2026-02-20T10:00:00.000000Z_${id}_${id}`,
        'x',
      ].map((before) => `/console/conversations?before=${before}`),
      '/console/conversations/list?before=x_y',
      `/console/conversations/${id}?before=0`,
      `/console/conversations/${id}?before=99999999999`,
      '/console/approvals?before=x',
      '/console/runs?before=x',
      '/console/runs?from=0000-01-01T00:00',
      '/console/runs?from=2026-02-30T00:00',
      '/console/messages?before=x',
    ];
    for (const url of places) assert.equal((await get(url)).statusCode, 400, url);
    const nobodys = [
      `/console/conversations?before=2026-02-20T10:00:00.000000Z_${id}`,
      `/console/approvals?show=decided&before=${id}`,
      `/console/runs?before=${id}`,
      `/console/messages?before=${id}`,
    ];
    for (const url of nobodys) assert.equal((await get(url)).statusCode, 200, url);
  });

  it('lets an owner say what became of a message of ours, once, and with the token of the page only', async () => {
    const { chatId } = await gateway.write('unknown-send', 'Hello?');
    const arrived = await ours(chatId, 'It may be there', { state: 'unknown', code: 'interrupted' });
    const lost = await ours(chatId, 'It may be lost', { state: 'unknown', code: 'no_answer' });
    assert.match(
      await textOf('/console/messages'),
      /Nobody knows whether these messages arrived.*It may be there/,
    );
    const say = (id: string, arrived: string, token = csrf): Promise<LightMyRequestResponse> =>
      post(`/console/sends/${id}?show=open`, { arrived }, token);
    assert.equal((await say(arrived, 'yes', 'wrong')).statusCode, 403);
    assert.equal(await stateOf(arrived), 'unknown');
    assert.equal((await say(arrived, 'perhaps')).statusCode, 400);
    assert.match((await say(arrived, 'yes')).body, /Noted: it was delivered/);
    assert.match((await say(lost, 'no')).body, /Noted: it was not delivered/);
    assert.deepEqual([await stateOf(arrived), await stateOf(lost)], ['sent', 'failed']);
    assert.match((await say(arrived, 'no')).body, /was known already/);
    assert.equal(await stateOf(arrived), 'sent');
    const audit = await gateway.inScope(gateway.tenantId, ({ tx }) =>
      tx.audit.findMany({ where: { subjectId: { in: [arrived, lost] }, event: 'message_settled' } }),
    );
    assert.deepEqual(
      audit.map(({ actor }) => actor),
      ['owner:deniz', 'owner:deniz'],
    );
  });

  it('finds whatever somebody has in hand', async () => {
    const asked = await askForApproval(gateway, {
      chat: 'found-visitor',
      text: 'Book the 9th',
      arguments: {},
    });
    const sent = await ours(asked.chatId, 'A receipt', { state: 'sent', externalId: 'wamid.of-ours' });
    const { chatId, messageId } = await onWhatsApp({
      text: 'Found by its id',
      externalId: 'wamid.of-theirs',
    });
    const run = `/console/runs/${asked.turnId}`;
    const chat = `/console/conversations/${chatId}`;
    const table: [string, string][] = [
      ['+90 555 111 00 01', chat],
      [NUMBER, chat],
      ['ayse isik', chat],
      ['1110001', chat],
      ['found-visitor', `/console/conversations/${asked.chatId}`],
      ['found-vis', `/console/conversations/${asked.chatId}`],
      [asked.ref, run],
      [asked.ref.toLowerCase().replace('-', ''), run],
      [asked.ref.toLowerCase().replace('-', ' '), run],
      ['Web visitor found-vi…', `/console/conversations/${asked.chatId}`],
      [asked.turnId, run],
      [`tool-run/${asked.turnId}`, run],
      [asked.stepId, run],
      [asked.approvalId, run],
      [asked.turnId, `#message-${asked.turnId}`],
      [messageId, `#message-${messageId}`],
      ['wamid.of-theirs', `#message-${messageId}`],
      ['wamid.of-ours', `#message-${sent}`],
      [`conversation/${gateway.tenantId}/${chatId}`, chat],
    ];
    for (const [text, address] of table) {
      const { body } = await get(`/console/search?q=${encodeURIComponent(text)}`);
      const links = [...body.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href ?? '');
      assert.ok(
        links.some((href) => href.startsWith(address) || href.endsWith(address)),
        `${text} leads to ${address}, not only to ${links.join(' ')}`,
      );
    }
    for (const text of ['+90 555 111 00 02', 'Z-ZZZZ', randomUUID(), 'nobody at all', '%', "'; --", '\u0000'])
      assert.equal((await get(`/console/search?q=${encodeURIComponent(text)}`)).statusCode, 200, text);
    assert.match(await textOf('/console/search?q=nobody%20at%20all'), /Nothing found/);
    assert.equal((await get(`/console/search?q=${'x'.repeat(201)}`)).statusCode, 400);
  });

  it('filters runs by state and by the time of the business', async () => {
    const asked = await askForApproval(gateway, { chat: 'filters', text: 'Book', arguments: {} });
    const failed = await askForApproval(gateway, { chat: 'filters-failed', text: 'Book', arguments: {} });
    const started = DateTime.fromISO('2026-03-10T14:30', { zone: gateway.configuration.business.timeZone });
    await gateway.inScope(gateway.tenantId, async ({ tx }) => {
      await tx.toolRun.update({
        where: { turnId: asked.turnId },
        data: { startedAt: started.toJSDate() },
      });
      await tx.toolRun.update({
        where: { turnId: failed.turnId },
        data: { state: 'failed', open: false, closedAt: new Date() },
      });
    });
    const shown = async (query: string): Promise<string[]> =>
      [...(await get(`/console/runs?${query}`)).body.matchAll(/id="run-([^"]+)"/g)].map(([, id]) => id ?? '');
    assert.deepEqual(await shown('from=2026-03-10T14:30&to=2026-03-10T14:31'), [asked.turnId]);
    assert.deepEqual(await shown('from=2026-03-10T14:31&to=2026-03-11T00:00'), []);
    assert.deepEqual(await shown('state=failed'), [failed.turnId]);
    assert.ok(!(await shown('state=waiting')).includes(failed.turnId));
    assert.ok((await shown('state=waiting&from=&to=')).includes(asked.turnId));
    for (const query of ['from=yesterday', 'state=%3Cb%3E', 'before=nothing', 'from=2026-02-31T10:00'])
      assert.equal((await get(`/console/runs?${query}`)).statusCode, 400, query);
  });

  it('shows nothing of another business, whatever is asked for', async () => {
    const other = await addTenant(gateway.database);
    const foreign = await gateway.inbox.acceptMessage({
      channel: 'web',
      accountKey: other.accountKey,
      chatAddress: 'a-foreign-visitor',
      externalId: 'foreign-1',
      kind: 'text',
      text: 'Words of another business',
    });
    for (const path of [`/console/conversations/${foreign.chatId}`, `/console/runs/${foreign.messageId}`]) {
      const page = await get(path);
      assert.equal(page.statusCode, 404);
      assert.match(page.body, /There is no/);
    }
    assert.equal((await get(`/console/conversations/${foreign.chatId}/talk`)).statusCode, 404);
    for (const text of [foreign.chatId, foreign.messageId, 'a-foreign-visitor', 'foreign-1'])
      assert.match(await textOf(`/console/search?q=${text}`), /Nothing found/, text);
    for (const url of ['/console/conversations', '/console/messages?show=all'])
      assert.doesNotMatch(await textOf(url), /another business/);
  });

  it('escapes whatever strangers wrote, on every page', async () => {
    const evil = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>';
    const { chatId } = await onWhatsApp({
      text: evil,
      chatAddress: '905551119999',
      details: { profileName: evil },
    });
    await ours(chatId, evil, { state: 'unknown', code: 'no_answer' });
    await ours(chatId, evil, { state: 'sent' });
    const urls = [
      '/console/conversations',
      `/console/conversations/${chatId}`,
      '/console/messages',
      '/console/messages?show=all',
      '/console/messages?show=undelivered',
      '/console/runs',
      `/console/search?q=${encodeURIComponent(evil)}`,
      '/console/search?q=905551119999',
    ];
    const pages = await Promise.all(urls.map(async (url) => (await get(url)).body));
    for (const [index, page] of pages.entries()) {
      // Inside of a quoted attribute only the quote itself could do harm, and it is escaped: what is left is markup.
      const markup = page.replaceAll(/="[^"]*"/g, '');
      assert.ok(!/<img|<script>|<[a-z][^>]*onerror/.test(markup), urls[index]);
    }
    assert.ok(pages.join('').includes('&lt;img src=x onerror=alert(1)>'), 'the text is shown as text');
  });

  it('asks Postgres the same few questions, however long a list is', async () => {
    for (let number = 0; number < 25; number += 1) await gateway.write(`many-${number}`, 'Hello');
    const lists: Record<string, (scope: Scope, limit: number) => Promise<unknown>> = {
      chats: (scope, limit) => listConversations(scope, { limit }),
      messages: (scope, limit) => listMessages(scope, { state: 'all', limit }),
      runs: (scope, limit) => listRuns(scope, { limit }),
      search: (scope, recent) => search(scope, { text: 'many', recent }),
      transcript: async (scope, limit) => {
        const { id: chatId } = await scope.tx.chat.findFirstOrThrow({ orderBy: { lastSequence: 'desc' } });
        return transcriptOf(scope, { chatId, limit });
      },
    };
    for (const [name, list] of Object.entries(lists)) {
      const [few, many] = [await questionsOf(list, 2), await questionsOf(list, 25)];
      assert.equal(many, few, name);
      assert.ok(many <= 14, `${name}: ${many}`);
    }
  });

  it('answers with a page when the database is away', async () => {
    const database = openDatabase({ url: 'postgresql://nobody@127.0.0.1:1/nothing', poolSize: 1 });
    const app = await createServer({
      database,
      content: gateway.content,
      conversations: recordedConversations(),
      changes: gateway.changes,
      desk: { tenantId: gateway.tenantId, configuration: gateway.configuration },
      logger: createLogger({
        process: 'gateway',
        level: 'error',
        destination: new transports.Stream({ stream: unread() }),
      }),
      apiToken: API_TOKEN,
    });
    for (const url of [
      '/console/conversations',
      '/console/messages',
      '/console/runs',
      '/console/search?q=x',
    ]) {
      const page = await app.inject({ url, cookies, headers: HTML });
      assert.equal(page.statusCode, 503, url);
      assert.match(wordsOf(page.body), /Not just now.*database can’t be reached/);
      assert.doesNotMatch(page.body, /ECONNREFUSED|Prisma|at .*\.ts/);
    }
    await app.close();
    await database.close();
  });

  /** How often one transaction asks, with no key at hand. */
  async function questionsOf(
    list: (scope: Scope, limit: number) => Promise<unknown>,
    limit: number,
  ): Promise<number> {
    let asked = 0;
    const counted = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(one, name, receiver) {
          const value: unknown = Reflect.get(one, name, receiver);
          if (typeof value === 'object' && value !== null) return counted(value);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]) => {
            asked += 1;
            return Reflect.apply(value, one, given) as unknown;
          };
        },
      });
    const { tenantId } = gateway;
    const cold = createContentCipher({ keyring: gateway.content.keyring });
    await gateway.database.inTenant(tenantId, (tx) =>
      list({ tx: counted(tx), tenantId, content: cold }, limit),
    );
    return asked;
  }

  async function settle(messageId: string, state: string, reason: string): Promise<void> {
    await gateway.inScope(gateway.tenantId, ({ tx }) =>
      tx.inbox.update({ where: { id: messageId }, data: { state, reason, settledAt: new Date() } }),
    );
  }

  async function stateOf(outboxId: string): Promise<string> {
    const { state } = await gateway.inScope(gateway.tenantId, ({ tx }) =>
      tx.outbox.findUniqueOrThrow({ where: { id: outboxId } }),
    );
    return state;
  }
});

function unread(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/** What a person reads of a page. */
function wordsOf(html: string): string {
  return html
    .replace(/^[\s\S]*<main/, '<main')
    .replaceAll(/<span class="sign"[^>]*>[^<]*<\/span>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ');
}
