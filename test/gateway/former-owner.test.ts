// Whoever is taken out of the configuration is an owner no more, at once: neither a session nor a login link outlives that.
import assert from 'node:assert/strict';
import { askForApproval, startGateway, type TestGateway } from './gateway.js';
import { ownerAtConsole, type OwnerAtConsole } from './owner-at-console.js';

describe('somebody who was an owner', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  let former: OwnerAtConsole;
  let oldLink: string;
  before(async () => {
    gateway = await startGateway();
    former = await ownerAtConsole(gateway);
    assert.equal((await former.open('/console/approvals')).statusCode, 200);
    oldLink = await gateway.loginLink();
  });
  after(() => gateway.stop());

  const [deniz, mert] = ['deniz', 'mert'].map((id) => ({
    id,
    name: id,
    addresses: { whatsapp: [] },
    groups: [],
  }));
  const onlyOwner = (owner: typeof deniz): void => {
    gateway.configuration.owners = owner ? [owner] : [];
  };
  beforeEach(() => onlyOwner(mert));
  afterEach(() => onlyOwner(deniz));

  it('sees no page, and is shown where to log in', async () => {
    const page = await former.open('/console/approvals');
    assert.deepEqual([page.statusCode, page.headers.location], [303, '/console/login']);
    assert.equal((await former.open('/console/chat')).statusCode, 303);
  });

  it('decides nothing, switches nothing, and writes to nobody as an owner', async () => {
    const asked = await askForApproval(gateway, {
      chat: 'x',
      text: 'Book',
      arguments: { date: '2026-12-05', time: '10:30' },
    });
    const answer = await former.send(`/console/approvals/${asked.approvalId}`, { decision: 'approve' });
    const off = await former.send('/console/controls/effects', { to: 'off' });
    const words = await gateway.app.inject({
      method: 'POST',
      url: '/console/chat/messages',
      cookies: former.cookies,
      headers: { 'x-csrf-token': former.csrf },
      payload: { id: 'gone-1', text: 'Book it' },
    });
    assert.deepEqual([answer.statusCode, off.statusCode, words.statusCode], [401, 401, 401]);
    const rows = await gateway.inScope(gateway.tenantId, async ({ tx }) => [
      await tx.approvalDecision.count(),
      await tx.switch.count(),
      await tx.inbox.count({ where: { externalId: 'gone-1' } }),
    ]);
    assert.deepEqual(rows, [0, 0, 0]);
  });

  it('does not get in by a link from before, which is not used up by trying', async () => {
    const logIn = () => ownerAtConsole({ app: gateway.app, loginLink: async () => oldLink });
    await assert.rejects(logIn, /410/);
    onlyOwner(deniz);
    assert.equal((await (await logIn()).open('/console/approvals')).statusCode, 200);
  });

  it('is let in again as soon as they are one again', async () => {
    onlyOwner(deniz);
    assert.equal((await former.open('/console/approvals')).statusCode, 200);
  });
});
