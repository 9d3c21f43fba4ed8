// Messages that are too long for one, with media, or outside the window.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { GraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import { saysWaiting } from '../../../prisma/functions.js';
import { takeChat } from '../../../prisma/stores/takeover.js';
import { windowClosesAt, windowOf } from '../../../prisma/stores/windows.js';
import type { OutgoingDetails } from '../../../workflows/domain/message.js';
import { startSendKit, type Chat, type SendKit, type Turn } from './kit.js';

const HOUR = 60 * 60 * 1000;
const TEMPLATES = {
  lateAnswer: { name: 'late_answer', language: 'tr' },
  approvalRequest: { name: 'approval', language: 'tr' },
};

let kit: SendKit;

before(async function () {
  this.timeout(60_000);
  kit = await startSendKit({
    templates: [
      { name: 'late_answer', language: 'tr', parameters: 1 },
      { name: 'approval', language: 'tr', parameters: 1 },
      { name: 'own', language: 'en', parameters: 2 },
    ],
  });
});
after(() => kit.stop());
beforeEach(() => kit.fake.forget());

/** Paragraphs of numbered sentences, each of its own. */
function story(length: number): string {
  const lines: string[] = [];
  for (let count = 1; lines.join('\n\n').length < length; count += 1) {
    lines.push(`Sentence ${count} of the story is no longer than any other. It goes on, and then it ends.`);
  }
  return lines.join('\n\n');
}

const bodies = (): string[] =>
  kit.fake.taken().map(({ request }) => {
    if (request.type === 'text') return request.text.body;
    if (request.type === 'interactive') return request.interactive.body.text;
    return request.type;
  });
const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim();
const partsOf = (outboxId: string) =>
  kit.inTenant(({ tx }) =>
    tx.outbox.findMany({ where: { originKind: 'part', originId: outboxId }, orderBy: { ordinal: 'asc' } }),
  );

describe('a long message', function () {
  this.timeout(30_000);

  it('goes in parts, in order, that are the whole text, and the last of them answers', async () => {
    const turn = await kit.turn(await kit.chat());
    const text = story(11_000);
    const outboxId = await kit.plan({ ...turn, text });
    assert.deepEqual(await kit.deliver(outboxId), { state: 'sent' });
    assert.equal(bodies().length, 3);
    for (const body of bodies()) assert.ok(body.length <= 4_000, 'within the limit');
    assert.equal(squeezed(bodies().join('\n\n')), squeezed(text));
    const parts = await partsOf(outboxId);
    const sequences = [(await kit.row(outboxId)).sequence, ...parts.map(({ sequence }) => sequence)];
    assert.deepEqual(sequences, [2, 3, 4]);
    assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
    await kit.deliver(outboxId);
    for (const part of parts) await kit.deliver(part.id);
    assert.equal(kit.fake.attempts(), 3, 'nothing twice');
  });

  it('that would need more than four parts goes as a document with all of it', async () => {
    const turn = await kit.turn(await kit.chat());
    const text = story(20_000);
    await kit.deliver(await kit.plan({ ...turn, text }));
    const [taken, ...others] = kit.fake.taken();
    assert.deepEqual(others, []);
    assert.ok(taken?.request.type === 'document', 'a document');
    const { id, caption, filename } = taken.request.document;
    assert.equal(Buffer.from(kit.fake.media(id ?? '')?.content ?? []).toString('utf8'), text);
    assert.ok(caption?.startsWith('Sentence 1') && caption.length <= 1_024, 'a beginning as its caption');
    assert.match(filename ?? '', /^[a-z-]+-[0-9a-f]{8}\.txt$/);
    assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
  });

  it('with buttons has them under its end', async () => {
    const chat = await kit.chat();
    const text = story(6_000);
    const details = { buttons: [{ id: 'yes', title: 'Yes' }] };
    await kit.deliver(await kit.plan({ ...chat, turnId: null, text, details }));
    const types = kit.fake.taken().map(({ request }) => request.type);
    assert.equal(types.at(-1), 'interactive');
    assert.deepEqual(new Set(types.slice(0, -1)), new Set(['text']));
    assert.equal(squeezed(bodies().join('\n\n')), squeezed(text));
  });

  for (const [what, when] of [
    ['before the call', 'before'],
    ['after the call', 'after'],
  ] as const) {
    it(`that is broken off ${what} of its second part never doubles a part`, async () => {
      const turn = await kit.turn(await kit.chat());
      const outboxId = await kit.plan({ ...turn, text: story(11_000) });
      let calls = 0;
      const dying: GraphClient = {
        ...kit.graph,
        async send(...send) {
          calls += 1;
          if (calls === 2 && when === 'after') await kit.graph.send(...send);
          if (calls === 2) throw new Error('the process is gone');
          return kit.graph.send(...send);
        },
      };
      await assert.rejects(
        kit.activitiesWith({ graph: dying }).deliver({ tenantId: kit.tenantId, outboxId }),
      );
      const taken = when === 'after' ? 2 : 1;
      assert.equal(kit.fake.taken().length, taken);
      await age(outboxId);
      assert.deepEqual(await kit.deliver(outboxId), { state: 'unknown' });
      const [second, third] = await partsOf(outboxId);
      assert.deepEqual([second?.state, third?.state], ['unknown', 'planned']);
      assert.equal(kit.fake.taken().length, taken, 'the third waits for what became of the second');
      assert.equal((await kit.ledger(turn.turnId)).state, 'accepted');

      const saysOf = async () =>
        (await saysWaiting(kit.database.prisma, { olderThanMs: 0, limit: 1_000 })).filter(
          ({ chatId }) => chatId === turn.chatId,
        );
      assert.deepEqual(await saysOf(), [], 'nobody rings for it meanwhile');
      // The platform tells what became of it; then the sweep finds the rest.
      const known = kit.fake.taken().at(-1);
      assert.ok(known, 'something was taken');
      await kit.fake.webhooks.reportNow(
        { ...known, callbackData: second?.id ?? '', wamid: `wamid.${randomUUID()}` },
        'sent',
      );
      const [say] = await saysOf();
      assert.equal(say?.outboxId, third?.id);
      assert.deepEqual(await kit.deliver(say?.outboxId ?? ''), { state: 'sent' });
      assert.equal(kit.fake.taken().length, taken + 1);
      assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
    });
  }

  it('whose part is refused sends no more of it, and hands its message off', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan({ ...turn, text: story(11_000) });
    kit.fake.faults.next({ kind: 'slow', ms: 1 }, { kind: 'refuse', code: 131026 });
    assert.deepEqual(await kit.deliver(outboxId), { state: 'failed' });
    assert.equal(kit.fake.taken().length, 1);
    assert.deepEqual(
      (await partsOf(outboxId)).map(({ state, code }) => [state, code]),
      [
        ['failed', '131026'],
        ['discarded', 'part_failed'],
      ],
    );
    assert.equal((await kit.ledger(turn.turnId)).state, 'handed_off');
  });

  it('is not said on where a person takes the chat between two parts', async () => {
    const turn = await kit.turn(await kit.chat(), { withRun: true });
    const outboxId = await kit.plan({ ...turn, text: story(11_000) });
    const taking: GraphClient = {
      ...kit.graph,
      async send(...send) {
        const outcome = await kit.graph.send(...send);
        await kit.inTenant((scope) => takeChat(scope, { chatId: turn.chatId, by: 'business' }));
        return outcome;
      },
    };
    const held = await kit.activitiesWith({ graph: taking }).deliver({ tenantId: kit.tenantId, outboxId });
    assert.deepEqual(held, { state: 'planned', held: true });
    assert.equal(kit.fake.taken().length, 1);
  });

  it('is dropped with all its parts where a person takes the chat and nothing was done', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan({ ...turn, text: story(11_000) });
    const taking: GraphClient = {
      ...kit.graph,
      async send(...send) {
        const outcome = await kit.graph.send(...send);
        await kit.inTenant((scope) => takeChat(scope, { chatId: turn.chatId, by: 'business' }));
        return outcome;
      },
    };
    const dropped = await kit.activitiesWith({ graph: taking }).deliver({ tenantId: kit.tenantId, outboxId });
    assert.deepEqual(dropped, { state: 'discarded' });
    assert.deepEqual(
      (await partsOf(outboxId)).map(({ state, code }) => [state, code]),
      [
        ['discarded', 'paused'],
        ['discarded', 'paused'],
      ],
    );
    assert.equal((await kit.ledger(turn.turnId)).state, 'handed_off');
  });
});

/** As if the last attempt had been a minute ago. */
async function age(outboxId: string): Promise<void> {
  await kit.inTenant(({ tx }) =>
    tx.outbox.updateMany({
      where: { OR: [{ id: outboxId }, { originId: outboxId }], state: 'sending' },
      data: { sendingAt: new Date(Date.now() - 60_000) },
    }),
  );
}

describe('outside the 24-hour window', function () {
  this.timeout(30_000);

  const late = (): Promise<Chat> => kit.chat({ wroteMsAgo: 25 * HOUR });
  const withTemplates = () => kit.activitiesWith({ account: { templates: TEMPLATES } });
  const deliver = (outboxId: string) => kit.deliver(outboxId, { activities: withTemplates() });
  const templates = () =>
    kit.fake.taken().map(({ request }) => {
      assert.ok(request.type === 'template', 'a template');
      const [body] = request.template.components;
      return [
        request.template.name,
        request.template.language.code,
        body?.parameters.map(({ text }) => text),
      ];
    });

  it('an answer goes as the template for late answers, on one line', async () => {
    const turn = await kit.turn(await late());
    const outboxId = await kit.plan({ ...turn, text: 'It is **ready**.\n\nCome at any time.' });
    assert.deepEqual(await deliver(outboxId), { state: 'sent' });
    assert.deepEqual(templates(), [['late_answer', 'tr', ['It is *ready*. Come at any time.']]]);
    assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
  });

  it('an answer that the template can’t hold goes with its beginning, and the log says that it was cut', async () => {
    const cuts = () => kit.logLines.filter((line) => line.includes('outbox.cut')).length;
    const before = cuts();
    const turn = await kit.turn(await late());
    const outboxId = await kit.plan({ ...turn, text: story(2_000) });
    assert.deepEqual(await deliver(outboxId), { state: 'sent' });
    const value = String(templates()[0]?.[2]);
    assert.ok(value.length <= 900 && value.endsWith('…'));
    assert.equal(cuts(), before + 1);
    assert.ok(kit.logLines.at(-1)?.includes(outboxId));
    await deliver(await kit.plan({ ...(await kit.turn(await late())), text: 'Short.' }));
    assert.equal(cuts(), before + 1);
  });

  it('a request to an owner goes as the template for that, or as the one that it brings', async () => {
    const owner = { ...(await late()), turnId: null, kind: 'acknowledgement' as const };
    const buttons = [{ id: 'a', title: 'Approve' }];
    const bring = (details: OutgoingDetails) => kit.plan({ ...owner, text: 'REF K-7Q4F', details });
    await deliver(await bring({ buttons, purpose: 'approvalRequest' }));
    await deliver(
      await bring({ buttons, template: { name: 'own', language: 'en', parameters: ['a', 'b'] } }),
    );
    assert.deepEqual(templates(), [
      ['approval', 'tr', ['REF K-7Q4F']],
      ['own', 'en', ['a', 'b']],
    ]);
  });

  it('what has no template has failed, says why, and is audited', async () => {
    const turn = await kit.turn(await late());
    const outboxId = await kit.plan(turn);
    assert.deepEqual(await kit.deliver(outboxId), { state: 'failed' });
    assert.equal((await kit.row(outboxId)).code, 'window_closed');
    assert.equal(kit.fake.attempts(), 0);
    assert.deepEqual(await kit.audited(outboxId), ['message_undelivered']);
    assert.deepEqual((await kit.ledger(turn.turnId)).reason, 'not delivered (window_closed)');
  });

  it('an acknowledgement is not worth a template', async () => {
    const turn = await kit.turn(await late(), { withRun: true });
    assert.deepEqual(await deliver(await kit.plan({ ...turn, kind: 'acknowledgement' })), {
      state: 'failed',
    });
    assert.equal(kit.fake.attempts(), 0);
  });

  it('a window that the platform sees as closed already is believed', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    kit.fake.faults.next({ kind: 'refuse', code: 131047 });
    assert.deepEqual(await deliver(outboxId), { state: 'sent' });
    assert.equal(templates().length, 1);
    kit.fake.forget();
    const other = await kit.plan({ ...(await kit.turn(await kit.chat())) });
    kit.fake.faults.next({ kind: 'refuse', code: 131047 });
    assert.deepEqual(await kit.deliver(other), { state: 'failed' });
    assert.equal((await kit.row(other)).code, 'window_closed');
  });

  it('somebody who has never written gets templates only', async () => {
    const chat = await kit.chat({ wroteMsAgo: null });
    assert.deepEqual(await kit.deliver(await kit.plan({ ...chat, turnId: null })), { state: 'failed' });
    const purpose = { purpose: 'approvalRequest' as const };
    assert.deepEqual(await deliver(await kit.plan({ ...chat, turnId: null, details: purpose })), {
      state: 'sent',
    });
  });

  it('is a day after the customer wrote, less a little; the web has no such thing', async () => {
    const now = new Date();
    const open = await kit.chat({ wroteMsAgo: 23 * HOUR });
    const closing = await kit.chat({ wroteMsAgo: 24 * HOUR - 10_000 });
    const web = await kit.chat({ channel: 'web' });
    await kit.inTenant(async (scope) => {
      assert.equal((await windowOf(scope, open.chatId, now)).isOpen, true);
      assert.equal((await windowOf(scope, closing.chatId, now)).isOpen, false);
      assert.deepEqual(await windowOf(scope, web.chatId, now), { isOpen: true });
      const closes = await windowClosesAt(scope, [open.chatId, web.chatId]);
      assert.deepEqual([...closes.keys()], [open.chatId]);
      const inAnHour = (closes.get(open.chatId)?.getTime() ?? 0) - now.getTime() - HOUR;
      assert.ok(Math.abs(inAnHour) < 5_000, 'in an hour');
    });
  });
});

describe('media that are passed on', function () {
  this.timeout(30_000);
  const picture = new Uint8Array(randomBytes(20_000));

  /** A customer's message with media on the platform, and somebody to whom it goes. */
  async function received(media: { mimeType: string; mediaId?: string; sha256?: string }): Promise<Turn> {
    const turn = await kit.turn(await kit.chat());
    const mediaId = media.mediaId ?? kit.fake.addMedia({ content: picture, mimeType: media.mimeType });
    await kit.inTenant(async ({ tx, tenantId, content }) => {
      const key = await content.keyOfContact(tx, tenantId, turn.contactId);
      await tx.inbox.update({
        where: { id: turn.messageId },
        data: {
          keyId: key.id,
          detailsCipher: content.sealText(key, {
            table: 'inbox',
            column: 'details_cipher',
            rowId: turn.messageId,
            text: JSON.stringify({
              media: { id: mediaId, mimeType: media.mimeType, ...(media.sha256 && { sha256: media.sha256 }) },
            }),
          }),
        },
      });
      await tx.media.create({
        data: {
          id: randomUUID(),
          tenantId,
          chatId: turn.chatId,
          messageId: turn.messageId,
          mimeType: media.mimeType,
          state: 'remote',
        },
      });
    });
    return turn;
  }

  async function passOn(turn: Turn, text: string): Promise<string> {
    const operator = await kit.chat();
    const details = { mediaMessageId: turn.messageId };
    return kit.plan({ ...turn, chatId: operator.chatId, turnId: null, text, details });
  }

  it('are fetched, kept under the customer’s key, and sent with their words', async () => {
    const turn = await received({ mimeType: 'image/jpeg' });
    assert.deepEqual(await kit.deliver(await passOn(turn, 'REF D-1111, **who** is this?')), {
      state: 'sent',
    });
    const [taken] = kit.fake.taken();
    assert.ok(taken?.request.type === 'image', 'an image');
    const { id, caption } = taken.request.image;
    assert.equal(caption, 'REF D-1111, *who* is this?');
    assert.ok(Buffer.from(kit.fake.media(id ?? '')?.content ?? []).equals(picture), 'the same bytes');
    const stored = await kit.inTenant(({ tx }) =>
      tx.media.findFirst({ where: { messageId: turn.messageId } }),
    );
    assert.deepEqual([stored?.state, stored?.bytes], ['stored', picture.byteLength]);
    assert.ok(
      !Buffer.from(stored?.contentCipher ?? []).includes(Buffer.from(picture.slice(0, 32))),
      'encrypted',
    );
  });

  it('without room for words have them in a message behind', async () => {
    const turn = await received({ mimeType: 'audio/ogg; codecs=opus' });
    await kit.deliver(await passOn(turn, 'listen to this'));
    assert.deepEqual(bodies(), ['audio', 'listen to this']);
  });

  it('that the platform has lost, or that are not what it said, are not sent', async () => {
    for (const media of [{ mediaId: '404' }, { sha256: 'bm90IHRoaXM=' }]) {
      const turn = await received({ mimeType: 'image/png', ...media });
      const outboxId = await passOn(turn, 'look');
      assert.deepEqual(await kit.deliver(outboxId), { state: 'failed' });
      assert.equal((await kit.row(outboxId)).code, 'media_missing');
    }
    assert.equal(kit.fake.attempts(), 0);
  });
});
