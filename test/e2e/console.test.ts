// The owner's console by keyboard alone, in a browser, over a whole desk: a yes is carried out, a change asks once more, a no
// and a silence do nothing, and everything can be stopped; on a desk and on a phone.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { DateTime } from 'luxon';
import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'puppeteer-core';
import { createChanges, type Changes } from '../../gateway/changes.js';
import { createServer } from '../../gateway/server.js';
import { freshRef } from '../../prisma/stores/refs.js';
import { notify } from '../../prisma/stores/scope.js';
import { createLoginLink } from '../../prisma/stores/sessions.js';
import { takeChat } from '../../prisma/stores/takeover.js';
import {
  DESK,
  openBrowser,
  openPage,
  overflowOf,
  PHONE,
  screenshot,
  type WatchedPage,
} from '../support/browser.js';
import { startDesk, until, type Desk } from '../support/desk.js';
import { skipAloud } from '../support/skip.js';

const WAIT_MS = 60_000;
/** No page has so many places to go to. */
const TABS_AT_MOST = 80;
/** Two seconds of a person's patience. */
const LOOKS_AT_MOST = 20;

interface Asked {
  ref: string;
  approvalId: string;
  stepId: string;
  chat: string;
}

describe('the owner console, by keyboard', function () {
  this.timeout(180_000);
  let desk: Desk;
  let app: FastifyInstance;
  let changes: Changes;
  let browser: Browser;
  let owner: WatchedPage;
  let url: string;
  let page: Page;
  let date: string;

  before(async function () {
    const opened = await openBrowser();
    if ('unavailable' in opened) skipAloud(this, opened.unavailable);
    ({ browser } = opened);
    const started = await startDesk();
    desk = started;
    const { database, tenantId, configuration, conversations, log: logger } = desk;
    date = openDay(configuration.business.timeZone);
    changes = createChanges({ databaseUrl: started.urls.applicationUrl, logger });
    app = await createServer({
      database,
      content: await desk.inScope(tenantId, async ({ content }) => content),
      conversations,
      changes,
      desk: { tenantId, configuration },
      logger,
      apiToken: 'a-token-that-nobody-uses-in-this-test',
      modelLabel: 'demo model',
    });
    url = await app.listen({ host: '127.0.0.1', port: 0 });
    owner = await openPage(browser, DESK);
    ({ page } = owner);
  });

  after(async () => {
    await browser?.close();
    await app?.close();
    await changes?.close();
    await desk?.stop();
  });

  it('lets the owner in', async () => {
    const { token } = await createLoginLink(desk.database, {
      tenantId: desk.tenantId,
      ownerId: 'deniz',
      validMinutes: 5,
    });
    await page.goto(`${url}/console/login/${token}`);
    await tabTo('button[type="submit"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#approvals');
    assert.match(await words('#approvals'), /Nothing waits for you/);
    await shoot('approvals-empty');
  });

  it('leads past the frame at the first press of a key', async () => {
    await page.reload();
    await page.keyboard.press('Tab');
    assert.equal(await focused('textContent'), 'Skip to the page');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate('document.getElementById("main").contains(document.activeElement)'));
  });

  it('shows a request by itself, and carries it out after a yes', async () => {
    const asked = await ask('anna', '09:00');
    await page.waitForSelector(`#approval-${asked.approvalId}`);
    await shoot('approvals-open');
    await pressUntil(`#approve-${asked.approvalId}`, 'Enter', `#approval-${asked.approvalId}`, /Carried out/);
    assert.match(await words('#notice'), new RegExp(`${asked.ref} is approved`));
    assert.equal(await isBooked('09:00'), true);
    await shoot('approvals-approved');
  });

  it('says beside the field what is wrong with a change, and asks once more with a right one', async () => {
    const asked = await ask('bora', '09:30');
    await page.waitForSelector(`#approval-${asked.approvalId}`);
    await tabTo(`#change-${asked.approvalId}`);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#edit');
    await shoot('edit');
    await tabTo('#save');
    await page.keyboard.press('Space');
    await seen('#edit-problem', /nothing would change/);

    await tabTo('#field-note');
    await page.keyboard.type('Please bring the key');
    // A browser's own field lets no wrong time be typed; whoever sends one all the same is told.
    await page.evaluate('document.getElementById("field-time").type = "text"');
    await tabTo('#field-time');
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('9 o’clock');
    await page.keyboard.press('Enter');
    await seen('#field-time-finding', /a time of day/);
    assert.equal(await focused('id'), 'field-time', 'the keyboard goes on where something is to be mended');
    assert.equal(
      await page.$eval('#field-note', (field) => (field as unknown as { value: string }).value),
      'Please bring the key',
    );
    await shoot('edit-refused');

    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('10:00');
    await page.keyboard.press('Enter');
    await seen('.approval', new RegExp(`Asks instead of ${asked.ref}`));
    const fresh = await desk.openApproval(WAIT_MS);
    assert.notEqual(fresh.ref, asked.ref);
    await shoot('edited');
    await pressUntil(`#approve-${fresh.approvalId}`, 'Space', `#approval-${fresh.approvalId}`, /Carried out/);
    assert.equal(await isBooked('10:00'), true);
    assert.equal(await isBooked('09:30'), false);
  });

  it('never carries out what is rejected, and hands the reason on', async () => {
    await page.goto(`${url}/console/approvals`);
    const asked = await ask('cem', '10:30');
    await page.waitForSelector(`#approval-${asked.approvalId}`);
    await tabTo(`#reject-${asked.approvalId}`);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await focused('id'), `reason-${asked.approvalId}`);
    await page.keyboard.type('We are at a fair');
    await shoot('approvals-reject');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await seen(`#approval-${asked.approvalId}`, /Rejected by Deniz in the console[^]*We are at a fair/);
    const replies = await desk.repliesWithin(asked.chat, 2, WAIT_MS);
    assert.match(replies.at(-1)?.text ?? '', /We are at a fair/);
    assert.equal(await isBooked('10:30'), false);
  });

  it('never carries out what nobody answered in time, whoever says yes after it', async () => {
    const asked = await ask('deha', '11:00');
    await page.waitForSelector(`#approval-${asked.approvalId}`);
    await tabTo(`#approve-${asked.approvalId}`);
    // A look of the page would take the button away: the time runs out under the finger, before the page looks again.
    await page.evaluate(
      `void document.body.addEventListener('htmx:beforeRequest', (event) => {
        if (event.target.id === 'approvals') event.preventDefault();
      })`,
    );
    await inDesk((tx) =>
      tx.approval.update({ where: { id: asked.approvalId }, data: { expiresAt: new Date() } }),
    );
    await page.keyboard.press('Enter');
    await seen(`#approval-${asked.approvalId}`, /Expired[^]*nobody answered in time[^]*Nothing was done/);
    assert.match(await words('#notice'), /has expired/);
    assert.equal(await isBooked('11:00'), false);
  });

  it('keeps the history: who said what, where, and what came of it', async () => {
    await page.goto(`${url}/console/approvals`);
    await tabTo('.filters a[href="/console/approvals?show=decided"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.decided li');
    const history = await words('.decided');
    for (const line of [
      /Approved by Deniz in the console/,
      /Changed by Deniz in the console/,
      /We are at a fair/,
    ]) {
      assert.match(history, line);
    }
    await shoot('decided');
    await tabTo('#filter-text');
    await page.keyboard.type('no such customer');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.empty');
    assert.match(await words('#approvals'), /Nothing found/);
    await shoot('decided-nothing-found');
  });

  it('asks whether an effect happened of which nobody knows, and takes the answer', async () => {
    const asked = await ask('ece', '13:30');
    const { tenantId } = desk;
    const chatId = await desk.chatId(asked.chat);
    await desk.inScope(tenantId, async (scope) => {
      await scope.tx.step.update({
        where: { id: asked.stepId },
        data: { state: 'unknown', ref: await freshRef(scope), startedAt: new Date(), finishedAt: new Date() },
      });
      await scope.tx.approval.update({
        where: { id: asked.approvalId },
        data: { state: 'used', decidedAt: new Date(), usedAt: new Date() },
      });
      await notify(scope, { chatId, what: 'run' });
    });
    await page.goto(`${url}/console/approvals`);
    await page.waitForSelector(`#outcome-${asked.stepId}`);
    await shoot('outcomes');
    await pressUntil(
      `#not-${asked.stepId}`,
      'Space',
      `#outcome-${asked.stepId}`,
      /It wasn’t done\s*says Deniz/,
    );
    const step = await inDesk((tx) => tx.step.findUniqueOrThrow({ where: { id: asked.stepId } }));
    assert.deepEqual([step.state, step.settledBy], ['failed', 'owner:deniz']);
  });

  it('stops every effect, and gives chats back', async () => {
    const chatId = await desk.chatId('anna');
    await desk.inScope(desk.tenantId, (scope) => takeChat(scope, { chatId, by: 'owner:deniz' }));
    await tabTo('#to-controls');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#controls');
    await shoot('controls');
    await tabTo('#switch-effects');
    await page.keyboard.press('Enter');
    await seen('#controls', /Off/);
    await shoot('controls-off');

    assert.equal(await askedWhileOff(), 0, 'nobody is asked for what can’t be done');

    assert.equal(await focused('id'), 'switch-effects');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await focused('id'), 'switch-on', 'one press too many lets nothing start again');
    await shoot('controls-on-again');
    await page.evaluate(
      `void document.body.addEventListener('htmx:afterOnLoad', (event) => {
        if (event.detail.target.id === 'controls') document.body.dataset.refreshed = 'yes';
      })`,
    );
    await desk.inScope(desk.tenantId, (scope) => notify(scope, { chatId, what: 'run' }));
    await page.waitForSelector('body[data-refreshed]');
    assert.equal(await focused('id'), 'switch-on', 'a refresh takes no open question away');
    await page.keyboard.press('Space');
    await untilSeen('#controls', /What is approved is carried out/, async () => {
      await tabTo('#switch-effects');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
    });
    await tabTo(`#release-${chatId}`);
    await page.keyboard.press('Enter');
    await seen('#controls', /The assistant has every chat/);
    const { pausedAt } = await inDesk((tx) => tx.chat.findUniqueOrThrow({ where: { id: chatId } }));
    assert.equal(pausedAt, null);
  });

  it('fits a phone and a desk on each of its pages', async () => {
    const open = await ask('filiz', '14:00');
    const places = {
      approvals: '/console/approvals',
      one: `/console/approvals/${open.approvalId}`,
      edit: `/console/approvals/${open.approvalId}/edit`,
      decided: '/console/approvals?show=decided',
      all: '/console/approvals?show=all',
      controls: '/console/controls',
    };
    for (const [name, place] of Object.entries(places)) {
      for (const size of [PHONE, DESK]) {
        await page.setViewport(size);
        await page.goto(url + place);
        assert.equal(await overflowOf(page), 0, `${place} at ${size.width} px`);
        await screenshot(page, `console-page-${name}-${size.width}`);
      }
    }
  });

  it('lets an owner answer by keyboard on a phone’s width too', async () => {
    await page.setViewport(PHONE);
    await page.goto(`${url}/console/approvals`);
    const { approvalId } = await ask('hale', '15:30');
    await page.waitForSelector(`#approval-${approvalId}`);
    await tabTo(`#reject-${approvalId}`);
    await page.keyboard.press('Enter');
    assert.equal(await overflowOf(page), 0);
    await shoot('approvals-reject-phone');
    await page.keyboard.press('Escape');
    await pressUntil(`#approve-${approvalId}`, 'Enter', `#approval-${approvalId}`, /Carried out/);
    await shoot('approvals-approved-phone');
  });

  it('takes an owner’s words in a web chat of their own', async () => {
    const asked = await ask('ilker', '16:00');
    await page.goto(`${url}/console/controls`);
    await tabTo('#to-own-chat');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#text');
    assert.equal(await overflowOf(page), 0);
    await shoot('own-chat');
    await tabTo('#text');
    await page.keyboard.type(`approve ${asked.ref}`);
    await page.keyboard.press('Enter');
    await seen('#log', new RegExp(`${asked.ref}[^]*Assistant[^]*${asked.ref}`));
    await until(async () => ((await isBooked('16:00')) ? true : undefined), WAIT_MS, 'the booking');
    await shoot('own-chat-answered');
    await page.goto(`${url}/console/approvals/${asked.approvalId}`);
    assert.match(await words('#approval'), /Approved by Deniz in the web chat/);
  });

  it('leaves no error in the browser', () => {
    assert.deepEqual(owner.complaints, []);
  });

  function inDesk<T>(work: Parameters<typeof desk.database.inTenant<T>>[1]): Promise<T> {
    return desk.database.inTenant(desk.tenantId, work);
  }

  /** A customer asks for a time; waits until an owner is asked. */
  async function ask(chat: string, time: string): Promise<Asked> {
    const text = `Book ${date} at ${time} please`;
    await desk.model.script({
      match: text,
      withTools: true,
      toolUse: [{ name: 'reserve_slot', input: { date, time } }],
    });
    const externalId = await desk.send(chat, text);
    const row = await until(
      () =>
        inDesk(async (tx) => {
          // A turn has the id of its first message.
          const { id } = await tx.inbox.findFirstOrThrow({ where: { externalId }, select: { id: true } });
          return (await tx.approval.findFirst({ where: { turnId: id, state: 'open' } })) ?? undefined;
        }),
      WAIT_MS,
      'an owner to be asked',
    );
    return { ref: row.ref, approvalId: row.id, stepId: row.stepId, chat };
  }

  /** How many requests come of a wish while effects are off. */
  async function askedWhileOff(): Promise<number> {
    const text = `Book ${date} at 15:00 please`;
    await desk.model.script({
      match: text,
      withTools: true,
      toolUse: [{ name: 'reserve_slot', input: { date, time: '15:00' } }],
    });
    await desk.settled(await desk.send('gul', text), WAIT_MS);
    const chatId = await desk.chatId('gul');
    return inDesk((tx) => tx.approval.count({ where: { chatId } }));
  }

  async function isBooked(time: string): Promise<boolean> {
    const startsAt = DateTime.fromISO(`${date}T${time}`, { zone: desk.configuration.business.timeZone });
    const where = { startsAt: startsAt.toJSDate(), state: 'reserved' };
    return (await inDesk((tx) => tx.booking.count({ where }))) === 1;
  }

  /** Presses Tab until the keyboard is there; whoever looks has to see where it is, all the way. */
  async function tabTo(selector: string): Promise<void> {
    let lost = 0;
    for (let pressed = 0; pressed < TABS_AT_MOST; pressed += 1) {
      await page.keyboard.press('Tab');
      const at = await lookedAt(selector);
      // A newer list may have moved one place on the way out of sight just then, but never two, and never where it leads.
      if (!at.isSeen) lost += 1;
      assert.ok(at.isSeen || (lost === 1 && !at.isThere), `nobody sees that the keyboard is at ${at.what}`);
      if (at.isThere) return;
    }
    assert.fail(`the keyboard never comes to ${selector}`);
  }

  /** Where the keyboard is. The page may be on its way there, or just getting a newer list, so it is given a moment. */
  async function lookedAt(selector: string): Promise<{ isThere: boolean; isSeen: boolean; what: string }> {
    const look = () =>
      page.evaluate(LOOK_AT_FOCUS, selector) as Promise<{ isThere: boolean; isSeen: boolean; what: string }>;
    for (let looks = 1; looks < LOOKS_AT_MOST; looks += 1) {
      const at = await look();
      if (at.isSeen) return at;
      await sleep(100);
    }
    return look();
  }

  async function focused(property: 'id' | 'textContent'): Promise<string> {
    return page.evaluate(`document.activeElement.${property}.trim()`) as Promise<string>;
  }

  async function words(selector: string): Promise<string> {
    return page.$$eval(selector, (all) => all.map((one) => one.textContent).join('\n'));
  }

  async function seen(selector: string, expected: RegExp, withinMs = WAIT_MS): Promise<void> {
    await until(
      async () => (expected.test(await words(selector).catch(() => '')) ? true : undefined),
      withinMs,
      `${String(expected)} in ${selector}`,
    );
  }

  /** The page takes a newer look every half minute, and a press may fall into it: whoever sees nothing happen presses again. */
  async function untilSeen(
    selector: string,
    expected: RegExp,
    pressAgain: () => Promise<void>,
  ): Promise<void> {
    for (let looks = 1; looks < 4; looks += 1) {
      const isSeen = await seen(selector, expected, WAIT_MS / 4).then(
        () => true,
        () => false,
      );
      if (isSeen) return;
      // Where the button is gone by now, the first press has counted after all.
      await pressAgain().catch(() => undefined);
    }
    await seen(selector, expected);
  }

  async function pressUntil(
    button: string,
    key: 'Enter' | 'Space',
    selector: string,
    expected: RegExp,
  ): Promise<void> {
    const press = async (): Promise<void> => {
      await tabTo(button);
      await page.keyboard.press(key);
    };
    await press();
    await untilSeen(selector, expected, press);
  }

  /** The page as it is, at a desk's and at a phone's width. */
  async function shoot(name: string): Promise<void> {
    await page.waitForFunction('document.readyState === "complete" && document.body.clientWidth > 0');
    await screenshot(page, `console-${name}-${page.viewport()?.width ?? 0}`);
  }
});

/** In the page. What is focused has an outline or a shadow, or is a field with a border of its own colour; and nothing lies above it. */
const LOOK_AT_FOCUS = (selector: unknown): unknown => {
  const { document, getComputedStyle } = globalThis as unknown as {
    document: {
      activeElement: Element;
      body: Element;
      elementFromPoint(x: number, y: number): Element | null;
    };
    getComputedStyle: (element: Element) => Record<string, string>;
  };
  interface Element {
    matches(selector: string): boolean;
    contains(other: Element | null): boolean;
    tagName: string;
    id: string;
    className: string;
    getBoundingClientRect(): { left: number; top: number; width: number; height: number };
  }
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const { left, top, width, height } = at.getBoundingClientRect();
  const above = document.elementFromPoint(left + Math.min(width / 2, 40), top + Math.min(height / 2, 20));
  const isMarked = style['outlineStyle'] !== 'none' || style['boxShadow'] !== 'none';
  return {
    isThere: at.matches(String(selector)),
    isSeen: at === document.body || (isMarked && at.contains(above)),
    what: `${at.tagName}#${at.id}.${at.className}`,
  };
};

/** A weekday soon on which the desk is open all day. */
function openDay(timeZone: string): string {
  let day = DateTime.now().setZone(timeZone).plus({ days: 3 }).startOf('day');
  while (day.weekday > 5 || day.toISODate()?.endsWith('-01-01')) day = day.plus({ days: 1 });
  return day.toISODate() ?? '';
}
