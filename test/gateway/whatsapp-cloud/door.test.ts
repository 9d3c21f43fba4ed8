import assert from 'node:assert/strict';
import { BACK, FRONT, messages, OTHER, signed, startCloud, text, webhook, type Cloud } from './cloud.js';

describe('the door of the Cloud API', function () {
  this.timeout(60_000);
  let cloud: Cloud;
  before(async () => {
    cloud = await startCloud();
  });
  after(() => cloud.stop());

  describe('asked whether it is ours', () => {
    const asked = (path: string, token: string, mode = 'subscribe') =>
      cloud.get(`${path}?hub.mode=${mode}&hub.verify_token=${token}&hub.challenge=1158201444`);

    it('gives the challenge back, for the app and for a number', async () => {
      for (const path of ['/webhooks/whatsapp', `/webhooks/whatsapp/${FRONT}`]) {
        const { status, text: body, type } = await asked(path, 'verify-the-shop');
        assert.deepEqual([status, body, type], [200, '1158201444', 'text/plain; charset=utf-8']);
      }
    });

    it('refuses another token, another mode, and the token of another business’s number', async () => {
      const refused = await Promise.all([
        asked('/webhooks/whatsapp', 'verify-the-shopp'),
        asked('/webhooks/whatsapp', ''),
        asked('/webhooks/whatsapp', 'verify-the-shop', 'unsubscribe'),
        asked(`/webhooks/whatsapp/${OTHER}`, 'verify-the-shop'),
        cloud.get('/webhooks/whatsapp'),
        cloud.get(
          '/webhooks/whatsapp?hub.mode=subscribe&hub.mode=subscribe&hub.verify_token=verify-the-shop',
        ),
      ]);
      assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([403]));
    });

    it('knows nothing of a number that is not configured', async () => {
      assert.equal((await asked('/webhooks/whatsapp/424242424242', 'verify-the-shop')).status, 404);
    });
  });

  describe('given a webhook', () => {
    const body = () => messages(text('905551110001', 'Merhaba, dükkân açık mı? 😀'));
    const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

    it('takes what the app of the number has signed, at either address', async () => {
      for (const path of [
        '/webhooks/whatsapp',
        `/webhooks/whatsapp/${FRONT}`,
        `/webhooks/whatsapp/${BACK}`,
      ]) {
        const { status, json } = await cloud.post(body(), { path });
        assert.deepEqual([status, json.accepted], [200, 1], path);
      }
    });

    it('takes either of two secrets during a rotation', async () => {
      cloud.secrets.set('shop-next-secret', 'the coming secret');
      // A new secret counts within seconds, not at once.
      const deadline = Date.now() + 10_000;
      for (;;) {
        const { status } = await cloud.post(body(), { secret: 'shop-next-secret' });
        if (status === 200) break;
        assert.ok(Date.now() < deadline, 'the new secret never counted');
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      assert.equal((await cloud.post(body())).status, 200);
    });

    it('refuses every signature but the right one, and stores nothing', async () => {
      const before = (await cloud.stored()).length + (await cloud.events()).length;
      const sent = bytes(body());
      const right = signed(cloud.secrets.get('shop-secret') ?? '', sent);
      const flipped = right.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
      // The same JSON, written otherwise: what is signed are bytes.
      const rewritten = Buffer.from(
        JSON.stringify(JSON.parse(sent.toString())).replace(
          /[^\x20-\x7e]/g,
          (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
      );
      assert.notDeepEqual(rewritten, sent);
      assert.deepEqual(JSON.parse(rewritten.toString()), JSON.parse(sent.toString()));
      const variants: Record<string, [Buffer, string | null]> = {
        missing: [sent, null],
        'by SHA-1': [sent, signed(cloud.secrets.get('shop-secret') ?? '', sent, 'sha1')],
        'of another length': [sent, right.slice(0, -2)],
        'without its prefix': [sent, right.replace('sha256=', '')],
        'twice in one header': [sent, `${right}, ${right}`],
        'with one bit changed': [sent, flipped],
        'of the body with one byte more': [Buffer.concat([sent, Buffer.from(' ')]), right],
        'of the same JSON, written otherwise': [rewritten, right],
        'of another business’s app': [sent, signed(cloud.secrets.get('other-secret') ?? '', sent)],
        'under an empty secret': [sent, signed('', sent)],
      };
      for (const [name, [payload, signature]] of Object.entries(variants)) {
        for (const path of ['/webhooks/whatsapp', `/webhooks/whatsapp/${FRONT}`]) {
          const { status } = await cloud.post(payload, { path, signature });
          assert.ok(status === 401 || status === 403, `${name}: ${status}`);
        }
      }
      assert.equal((await cloud.stored()).length + (await cloud.events()).length, before);
    });

    it('lets an app speak for its own numbers only, also in the midst of them', async () => {
      const [own] = messages(text('905551110002', 'ours'))['entry'] as unknown[];
      const [theirs] = webhook({ messages: [text('905551110002', 'theirs')] }, { number: OTHER })[
        'entry'
      ] as unknown[];
      const before = (await cloud.stored()).length;
      const { status } = await cloud.post({ object: 'whatsapp_business_account', entry: [own, theirs] });
      assert.equal(status, 403);
      assert.equal((await cloud.stored()).length, before);
      assert.equal((await cloud.stored(cloud.other)).length, 0);
    });

    it('serves the other business behind its own secret', async () => {
      const theirs = text('905551110003', 'for the other one');
      const hook = webhook({ messages: [theirs] }, { number: OTHER });
      assert.equal((await cloud.post(hook, { secret: 'other-secret' })).status, 200);
      assert.equal((await cloud.byId(theirs.id, cloud.other)).text, 'for the other one');
      assert.equal(
        (await cloud.stored()).some(({ externalId }) => externalId === theirs.id),
        false,
      );
    });

    it('serves several businesses behind one app, and keeps what it can’t tell apart for later', async () => {
      const own = cloud.other.configuration;
      const [account] = own.channels.whatsapp;
      assert.ok(account);
      const whatsapp = [{ ...account, appSecrets: ['shop-secret'] }];
      cloud.other.configuration = { ...own, channels: { ...own.channels, whatsapp } };
      try {
        const [ours, theirs] = [text('905551110004', 'ours'), text('905551110004', 'theirs')];
        const entries = [messages(ours), webhook({ messages: [theirs] }, { number: OTHER })].flatMap(
          (hook) => hook['entry'] as unknown[],
        );
        const { json } = await cloud.post({ object: 'whatsapp_business_account', entry: entries });
        assert.equal(json.accepted, 2);
        assert.equal((await cloud.byId(ours.id)).text, 'ours');
        assert.equal((await cloud.byId(theirs.id, cloud.other)).text, 'theirs');

        const before = (await cloud.events()).length + (await cloud.events(cloud.other)).length;
        const account_update = { field: 'account_update', value: { event: 'DISABLED_UPDATE' } };
        for (const hook of [
          { object: 'whatsapp_business_account', entry: [{ id: '5', changes: [account_update] }] },
          webhook({ messages: [text('905551110004', 'to nobody')] }, { number: '123454321' }),
        ])
          assert.equal((await cloud.post(hook)).status, 404);
        assert.equal((await cloud.events()).length + (await cloud.events(cloud.other)).length, before);
      } finally {
        cloud.other.configuration = own;
      }
    });

    it('keeps what comes for a number that isn’t configured, where only one business can be meant', async () => {
      const lost = text('905551110005', 'to a number of last year');
      const { status, json } = await cloud.post(webhook({ messages: [lost] }, { number: '123454321' }));
      assert.deepEqual([status, json.refused], [200, { unknown_number: 1 }]);
      assert.ok((await cloud.events()).some(({ payload }) => JSON.stringify(payload).includes('last year')));
    });

    it('is not acknowledged for a number that is switched off, or not registered yet', async () => {
      const off = (disabledAt: Date | null) =>
        cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
          tx.channelAccount.updateMany({ where: { accountKey: BACK }, data: { disabledAt } }),
        );
      await off(new Date());
      try {
        const sent = text('905551110006', 'anybody there?');
        const status = { id: 'wamid.1', status: 'sent' };
        assert.equal((await cloud.post(webhook({ messages: [sent] }, { number: BACK }))).status, 404);
        assert.equal((await cloud.post(webhook({ statuses: [status] }, { number: BACK }))).status, 404);
        await off(null);
        assert.equal((await cloud.post(webhook({ messages: [sent] }, { number: BACK }))).json.accepted, 1);
      } finally {
        await off(null);
      }
    });

    it('takes 3 MB, and no more', async () => {
      const padded = (size: number) => {
        const hook = { ...body(), padding: '' };
        hook.padding = 'x'.repeat(size - JSON.stringify(hook).length);
        return hook;
      };
      assert.equal((await cloud.post(padded(3 * 1024 * 1024 - 10))).status, 200);
      assert.equal((await cloud.post(padded(3 * 1024 * 1024 + 600))).status, 413);
      const api = await fetch(`${cloud.url}/api/chats/x/messages`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer a-token-for-the-tests-of-the-api',
        },
        body: JSON.stringify({ id: 'x', text: 'y', padding: 'x'.repeat(1_100_000) }),
      });
      assert.equal(api.status, 413, 'the other routes keep their limit');
    });

    it('refuses what is no JSON, however it is signed', async () => {
      for (const broken of ['{"object":', '', '\u0000', 'null,']) {
        assert.equal((await cloud.post(Buffer.from(broken))).status, 400, broken);
      }
      assert.equal((await cloud.post(Buffer.from([0x7b, 0xff, 0x7d]))).status, 400, 'no UTF-8');
    });

    it('keeps numbers, words and secrets out of the log', async () => {
      await cloud.post(messages(text('905557770001', 'a canary of a text')));
      const log = cloud.logLines.join('');
      assert.match(log, /webhook\.taken/);
      for (const secret of ['905557770001', 'canary', ...cloud.secrets.values()]) {
        if (secret !== '') assert.ok(!log.includes(secret), secret);
      }
    });
  });
});
