import assert from 'node:assert/strict';
import type { LightMyRequestResponse } from 'fastify';
import { closeRun, registerRun } from '../../prisma/stores/runs.js';
import { logOut, findSession } from '../../prisma/stores/sessions.js';
import { claimTurn } from '../../prisma/stores/turns.js';
import { piecesOf } from '../../workflows/domain/visible-text.js';
import { auditInWords, type AuditLine } from '../../gateway/web/console/audit-words.js';
import { relativeTime } from '../../gateway/web/assets/relative-time.js';
import { askForApproval, startGateway, type TestGateway } from './gateway.js';

const HTML = { accept: 'text/html' };

describe('the owner console', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway.stop());

  const cookiesOf = (response: LightMyRequestResponse): Record<string, string> =>
    Object.fromEntries(response.cookies.map(({ name, value }) => [name, value]));
  const tokenIn = (page: string): string => /name="_csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';

  async function logIn(): Promise<{ cookies: Record<string, string>; csrf: string }> {
    const url = await gateway.loginLink();
    const page = await gateway.app.inject({ url, headers: HTML });
    const cookies = cookiesOf(page);
    const payload = new URLSearchParams({ _csrf: tokenIn(page.body) }).toString();
    const headers = { ...HTML, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await gateway.app.inject({ method: 'POST', url, cookies, headers, payload });
    assert.equal(answer.statusCode, 303);
    return { cookies: { ...cookies, ...cookiesOf(answer) }, csrf: tokenIn(page.body) };
  }

  function decide(who: { cookies: Record<string, string>; csrf: string }, approvalId: string, form: object) {
    return gateway.app.inject({
      method: 'POST',
      url: `/console/approvals/${approvalId}`,
      cookies: who.cookies,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'hx-request': 'true',
        'x-csrf-token': who.csrf,
      },
      payload: new URLSearchParams(Object.entries(form)).toString(),
    });
  }

  it('shows nothing to strangers', async () => {
    for (const url of ['/console', '/console/approvals', '/console/runs', '/console/messages']) {
      const page = await gateway.app.inject({ url, headers: HTML });
      assert.equal(page.statusCode, 303);
      assert.equal(page.headers.location, '/console/login');
      const part = await gateway.app.inject({
        url: '/console/approvals/list',
        headers: { 'hx-request': 'true' },
      });
      assert.equal(part.statusCode, 401);
    }
  });

  it('logs in once per link, and looking at a link does not use it up', async () => {
    const url = await gateway.loginLink();
    const looks = await Promise.all([1, 2, 3].map(() => gateway.app.inject({ url, headers: HTML })));
    assert.deepEqual(
      looks.map((look) => look.statusCode),
      [200, 200, 200],
    );
    const [page] = looks;
    assert.ok(page);
    const request = {
      method: 'POST',
      url,
      cookies: cookiesOf(page),
      headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ _csrf: tokenIn(page.body) }).toString(),
    } as const;
    const both = await Promise.all([gateway.app.inject(request), gateway.app.inject(request)]);
    assert.deepEqual(both.map((one) => one.statusCode).toSorted(), [303, 410]);
    const session = both.flatMap((one) => one.cookies).find(({ name }) => name === 'aroko_session');
    assert.equal(session?.httpOnly, true);
    assert.equal(session?.sameSite, 'Strict');
    assert.equal((await gateway.app.inject({ url, headers: HTML })).statusCode, 410);
  });

  it('refuses every action without its token', async () => {
    const { approvalId } = await askForApproval(gateway, { chat: 'csrf', text: 'Book', arguments: {} });
    const { cookies, csrf } = await logIn();
    const answer = await decide({ cookies, csrf: 'wrong' }, approvalId, { decision: 'approve' });
    assert.equal(answer.statusCode, 403);
    const taken = await decide({ cookies, csrf }, approvalId, { decision: 'approve' });
    assert.equal(taken.statusCode, 200);
  });

  it('shows what would be done, takes the answer, and says what came of it', async () => {
    const asked = { date: '2026-12-05', time: '10:30', note: 'Brakes' };
    const { approvalId, ref } = await askForApproval(gateway, {
      chat: 'walk',
      text: 'Book',
      arguments: asked,
    });
    const owner = await logIn();
    const page = await gateway.app.inject({
      url: '/console/approvals',
      cookies: owner.cookies,
      headers: HTML,
    });
    for (const word of [
      ref,
      '2026-12-05',
      'Saturday 5 December 2026',
      '10:30',
      'Brakes',
      'effects-need-the-owner',
    ]) {
      assert.ok(page.body.includes(word), word);
    }
    const answer = await decide(owner, approvalId, { decision: 'reject', reason: 'We are full' });
    assert.match(page.body, /the customer will read it/);
    assert.match(answer.body, /Rejected/);
    assert.match(answer.body, /We are full/);
    assert.match(answer.body, new RegExp(`${ref} is rejected`));
    const again = await decide(owner, approvalId, { decision: 'approve' });
    assert.match(again.body, /was decided before: it is rejected/);
  });

  it('tells a run as a story: steps from 1, the trail in words', async () => {
    const asked = await askForApproval(gateway, { chat: 'story', text: 'Book', arguments: {} });
    await gateway.inScope(gateway.tenantId, (scope) =>
      // Counted from 0 by the planner, from 1 by people.
      scope.tx.step.update({ where: { id: asked.stepId }, data: { ordinal: 0 } }),
    );
    const owner = await logIn();
    await decide(owner, asked.approvalId, { decision: 'approve' });
    const { body } = await gateway.app.inject({
      url: `/console/runs/${asked.turnId}`,
      cookies: owner.cookies,
      headers: HTML,
    });
    assert.match(body, /1\. <\/span><span>Reserve slot/);
    assert.doesNotMatch(body, />0\. /);
    assert.match(body, /Approval was asked for/);
    assert.match(body, /Approved by Deniz in the console/);
  });

  it('says of a run that asked back that it asked the customer', async () => {
    const { tenantId } = gateway;
    const { messageId, chatId } = await gateway.write('asked-back', 'Book me something');
    const turnId = await gateway.inScope(tenantId, async (scope) => {
      const turn = await claimTurn(scope, { chatId, limit: 10 });
      assert.ok(turn, messageId);
      const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
      const configHash = gateway.configuration.hash;
      await registerRun(scope, { turnId: turn.turnId, chatId, contactId, configHash, candidates: [] });
      await closeRun(scope, { turnId: turn.turnId, chatId, to: 'asked' });
      return turn.turnId;
    });
    const { cookies } = await logIn();
    for (const url of ['/console/runs', `/console/runs/${turnId}`]) {
      const { body } = await gateway.app.inject({ url, cookies, headers: HTML });
      assert.match(body, /Asked the customer a question/, url);
      assert.doesNotMatch(body, /Nothing planned yet/, url);
    }
  });

  it('escapes whatever strangers wrote, on every page', async () => {
    const evil = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>';
    const owner = await logIn();
    const first = await askForApproval(gateway, {
      chat: evil,
      text: evil,
      arguments: { note: evil, [evil]: { [evil]: [evil] } },
    });
    const second = await askForApproval(gateway, { chat: evil, text: evil, arguments: { note: evil } });
    const answer = await decide(owner, second.approvalId, { decision: 'reject', reason: evil });
    const urls = [
      '/console/approvals',
      '/console/approvals/list',
      '/console/runs',
      '/console/messages',
      `/console/runs/${first.turnId}`,
      `/console/runs/${second.turnId}`,
    ];
    const pages = [answer.body];
    for (const url of urls) {
      const page = await gateway.app.inject({ url, cookies: owner.cookies, headers: HTML });
      assert.equal(page.statusCode, 200, url);
      pages.push(page.body);
    }
    for (const page of pages) {
      // Inside of a quoted attribute only the quote itself could do harm, and it is escaped: what is left is markup.
      const markup = page.replaceAll(/="[^"]*"/g, '');
      assert.ok(!markup.includes('<img'), 'an image of a stranger');
      assert.ok(!markup.includes('<script>'), 'a script of a stranger');
      assert.ok(!/<[a-z][^>]*onerror/.test(markup), 'a handler of a stranger');
    }
    assert.ok(pages.join('').includes('&lt;img src=x onerror=alert(1)>'), 'the text is shown as text');
  });

  it('ends a session for good', async () => {
    const { cookies } = await logIn();
    const sessionToken = cookies['aroko_session'] ?? '';
    const session = await findSession(gateway.database, sessionToken);
    assert.ok(session);
    await logOut(gateway.database, { ...session, sessionToken });
    assert.equal(await findSession(gateway.database, sessionToken), undefined);
  });

  it('sends headers that forbid foreign and inline code', async () => {
    const page = await gateway.app.inject({ url: '/', headers: HTML });
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.ok(!policy.includes('unsafe'));
    assert.equal(page.headers['x-content-type-options'], 'nosniff');
    assert.ok(!/<script(?![^>]*src=)/.test(page.body) && !/ on\w+=| style=/.test(page.body));
  });
});

describe('the chat page', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway.stop());

  it('remembers the customer by a signed cookie, and shows the conversation after a reload', async () => {
    const first = await gateway.app.inject({ url: '/', headers: HTML });
    const [cookie] = first.cookies;
    assert.ok(cookie?.httpOnly);
    assert.match(first.body, /What can I ask\?/);
    const cookies = { [cookie.name]: cookie.value };
    const sent = await gateway.app.inject({
      method: 'POST',
      url: '/chat/messages',
      cookies,
      payload: { id: 'page-1', text: '<b>bold</b> & <img src=x onerror=alert(1)>' },
    });
    assert.equal(sent.statusCode, 202);
    const again = await gateway.app.inject({ url: '/', cookies, headers: HTML });
    assert.match(again.body, /&lt;b>bold&lt;\/b> &amp; &lt;img src=x/);
    assert.ok(!again.body.includes('<img'));
    assert.ok(!again.body.includes('What can I ask?'));
  });

  it('takes nothing from a browser whose cookie is not ours', async () => {
    for (const cookies of [{}, { aroko_chat: 'anna' }, { aroko_chat: 'anna.c2lnbmF0dXJl' }]) {
      const payload = { id: 'forged', text: 'Hello' };
      const answer = await gateway.app.inject({ method: 'POST', url: '/chat/messages', cookies, payload });
      assert.equal(answer.statusCode, 401);
    }
  });

  it('answers pages with pages and programs with JSON when something is not there', async () => {
    const page = await gateway.app.inject({ url: '/nowhere', headers: HTML });
    assert.equal(page.statusCode, 404);
    assert.match(page.body, /There is nothing at this address/);
    const json = await gateway.app.inject({ url: '/nowhere' });
    assert.equal(json.json<{ error: { code: string } }>().error.code, 'not_found');
  });
});

describe('what hides in a text', () => {
  it('is made visible, and emoji stay whole', () => {
    const shown = piecesOf('a\u202Eb\u200Bc').map(({ text }) => text);
    assert.deepEqual(shown, ['a', 'U+202E', 'b', 'U+200B', 'c']);
    assert.deepEqual(piecesOf('👩‍🚀 ok'), [{ text: '👩‍🚀 ok' }]);
  });
});

describe('the audit trail', () => {
  const owners = [{ id: 'deniz', name: 'Deniz', addresses: { whatsapp: [] }, groups: [] }];
  const words = (event: string, facts: AuditLine['facts'] = {}, actor = 'assistant'): string =>
    auditInWords({ event, actor, facts }, owners);
  const table: [string, string][] = [
    [words('approval_requested', { gate: 'approve' }), 'Approval was asked for'],
    [words('approval_requested', { gate: 'confirm' }), 'The customer was asked to confirm'],
    [words('approval_approve', { surface: 'console' }, 'deniz'), 'Approved by Deniz in the console'],
    [words('approval_approve', { surface: 'api' }, 'api'), 'Approved through the API'],
    [words('approval_approve', { surface: 'chat' }, 'a-contact'), 'Confirmed by the customer in the chat'],
    [words('approval_reject', { surface: 'console' }, 'deniz'), 'Rejected by Deniz in the console'],
    [words('approval_reject', { surface: 'temporal' }, 'temporal'), 'Rejected in Temporal'],
    [words('approval_reject', { surface: 'chat' }, 'a-contact'), 'Declined by the customer in the chat'],
    [
      words('approval_reject', { surface: 'chat' }, 'superseded'),
      'Dropped, the customer went on to something else',
    ],
    [words('approval_expire', { surface: 'temporal' }, 'clock'), 'Expired, nobody answered in time'],
    [words('model_called', { purpose: 'plan', outcome: 'ok' }), 'The model was asked for a plan'],
    [
      words('model_called', { purpose: 'summarize', outcome: 'PROVIDER_DOWN' }),
      'The model was asked for a summary and gave none',
    ],
    [words('step_rejected'), 'Step not allowed'],
    [words('step_started', { attempt: 1 }), 'Step started'],
    [words('step_started', { attempt: 2 }), 'Step started again'],
    [words('step_succeeded'), 'Step done'],
    [words('step_failed'), 'Step failed'],
    [words('step_unknown'), 'Step ended with an unknown outcome'],
    [words('step_refused'), 'Step not carried out'],
    [words('step_settled', { happened: true }, 'owner:deniz'), 'Deniz found out that it was done'],
    [words('step_settled', { happened: false }, 'deniz'), 'Deniz found out that it was not done'],
    [words('policy_decided', { gate: 'allow' }), 'The policy allows it'],
    [words('policy_decided', { gate: 'confirm' }), 'The policy asks for the customer’s yes'],
    [words('policy_decided', { gate: 'approve' }), 'The policy asks for an owner’s yes'],
    [words('policy_decided', { gate: 'deny' }), 'The policy forbids it'],
    [words('approval_edit', { surface: 'console' }, 'deniz'), 'Edited by Deniz in the console'],
    [words('chat_taken', {}, 'owner:deniz'), 'Deniz took the chat over'],
    [words('chat_released', {}, 'clock'), 'The chat went back to the assistant'],
    [words('message_settled', { as: 'sent' }, 'owner:deniz'), 'Deniz found out that a message arrived'],
    [words('operator_asked', { ref: 'K-7Q2M' }), 'An operator was asked'],
    [words('login.link_created', { ownerId: 'deniz' }, 'gateway'), 'A login link was made for Deniz'],
    [words('console.logged_in', {}, 'deniz'), 'Deniz logged in to the console'],
    [words('console.logged_out', {}, 'deniz'), 'Deniz logged out of the console'],
    [words('some_new.event'), 'Some new event by assistant'],
  ];
  for (const [said, expected] of table) it(`says "${expected}"`, () => assert.equal(said, expected));
});

describe('relative times', () => {
  const minute = 60_000;
  const table: [number, string][] = [
    [0, 'just now'],
    [-3 * minute, '3 min ago'],
    [80 * minute, 'in 1 h 20 min'],
    [-26 * 60 * minute, '1 day ago'],
  ];
  for (const [offset, words] of table) {
    it(`says "${words}"`, () => assert.equal(relativeTime(offset, 0), words));
  }
});
