// The walk of somebody who has never seen the project: a customer on the chat page, the owner in a second tab.
import assert from 'node:assert/strict';
import { DateTime } from 'luxon';
import type { Browser, Page } from 'puppeteer-core';
import { eventually } from '../support/api-client.js';
import {
  DESK,
  openBrowser,
  openPage,
  overflowOf,
  PHONE,
  screenshot,
  type WatchedPage,
} from '../support/browser.js';
import { type Installation, sharedInstallation } from '../support/installation.js';
import { skipAloud } from '../support/skip.js';

const ZONE = 'Europe/Istanbul';

describe('the first walk, in a browser', function () {
  this.timeout(90_000);
  let installation: Installation;
  let browser: Browser;
  let customer: WatchedPage;
  let owner: WatchedPage;
  /** On a Saturday another day: what is asked for by its name must not be half over. */
  const day = DateTime.now().setZone(ZONE).weekday === 6 ? nextWeekday(2) : nextWeekday(6);

  before(async function () {
    const opened = await openBrowser();
    if ('unavailable' in opened) skipAloud(this, opened.unavailable);
    ({ browser } = opened);
    installation = await sharedInstallation();
    customer = await openPage(browser);
    owner = await openPage(browser);
  });

  after(() => browser?.close());

  it('greets back, as normal chat', async () => {
    await customer.page.goto(installation.facts().addresses.chat);
    await screenshot(customer.page, 'chat-empty-1280');
    const [reply] = await say('Hello!');
    assert.match(reply ?? '', /hello/i);
    assert.deepEqual(await installation.api.runsOf(await chatOfCustomer()), []);
  });

  it('answers from the calendar what is free on a day', async () => {
    const [reply] = await say(`Is anything free on ${day.toFormat('cccc')} morning?`);
    assert.match(reply ?? '', new RegExp(day.toFormat('d LLLL')));
    assert.match(reply ?? '', /10:30/);
  });

  it('passes a booking on and promises nothing', async () => {
    const before = await bookingsOfCustomers();
    const [reply] = await say('Book 10:30 please');
    assert.match(reply ?? '', /passed this on/);
    assert.equal(await bookingsOfCustomers(), before);
  });

  it('lets the owner in by the printed link, which works once', async () => {
    await owner.page.goto(new URL('/console', installation.facts().addresses.chat).href);
    assert.equal(
      new URL(owner.page.url()).pathname,
      '/console/login',
      'nobody sees the console without a login',
    );
    await owner.page.goto(installation.loginUrl());
    await press(owner.page, 'Log in');
    await owner.page.waitForSelector('::-p-aria([name="Approvals"][role="heading"])');
    assert.equal(new URL(owner.page.url()).pathname, '/console/approvals');

    const stranger = await browser.createBrowserContext();
    const page = await stranger.newPage();
    const response = await page.goto(installation.loginUrl());
    assert.equal(response?.status(), 410);
    assert.match(await textOf(page, 'main'), /has been used/);
    await stranger.close();
  });

  it('shows the owner exactly what would be done, and does it after a yes', async () => {
    const { ref } = await openApproval();
    await owner.page.bringToFront();
    const card = await owner.page.waitForSelector(`article ::-p-text(${ref})`);
    assert.ok(card);
    const shown = await textOf(owner.page, 'article.approval');
    assert.match(shown, new RegExp(day.toISODate() ?? ''));
    assert.match(shown, /10:30/);
    assert.match(shown, /Expires/i);
    await screenshot(owner.page, 'approvals-1280');
    const told = repliesAfter(customer.page);
    await press(owner.page, `Approve ${ref}`);
    await owner.page.waitForSelector('article ::-p-text(Carried out)');
    const [reply] = await told(1);
    assert.match(reply ?? '', /booked/i);
    assert.match(reply ?? '', /10:30/);
    await assertBooked(day.set({ hour: 10, minute: 30 }));
  });

  it('never carries out what the owner rejects, and says why', async () => {
    const before = await bookingsOfCustomers();
    await say(`Book ${day.toFormat('cccc')} at 11:00 please`);
    const { ref } = await openApproval();
    await owner.page.waitForSelector(`article ::-p-text(${ref})`);
    const told = repliesAfter(customer.page);
    const opener = await owner.page.waitForSelector('details.reject > summary');
    await opener?.click();
    const reason = await owner.page.waitForSelector('::-p-aria([role="textbox"])');
    await reason?.type('We are at a fair that day');
    await screenshot(owner.page, 'approvals-reject-1280');
    await press(owner.page, `Reject ${ref}`);
    const [reply] = await told(1);
    assert.match(reply ?? '', /sorry/i);
    assert.match(reply ?? '', /We are at a fair that day/);
    assert.doesNotMatch(reply ?? '', /booked for/i);
    assert.equal(await bookingsOfCustomers(), before);
  });

  it('asks back when a wish is unclear, and completes it', async () => {
    const [question] = await say('book me something');
    assert.match(question ?? '', /\?/);
    const [reply] = await say('Monday at 9');
    assert.match(reply ?? '', /passed this on/);
    const { ref, date } = await openApproval();
    const monday = DateTime.fromISO(date, { zone: ZONE });
    assert.equal(monday.weekday, 1);
    await owner.page.waitForSelector(`article ::-p-text(${ref})`);
    const told = repliesAfter(customer.page);
    await press(owner.page, `Approve ${ref}`);
    const [booked] = await told(1);
    assert.match(booked ?? '', /booked/i);
    await assertBooked(monday.set({ hour: 9 }));
  });

  it('keeps the conversation over a reload', async () => {
    const before = await bubbles(customer.page);
    await customer.page.reload();
    assert.deepEqual(await bubbles(customer.page), before);
  });

  it('leads by the keyboard alone from the search to what a customer was told', async () => {
    const { page } = owner;
    await page.bringToFront();
    await page.goto(new URL('/console/runs', installation.facts().addresses.chat).href);
    await page.keyboard.press('/');
    await page.keyboard.type(await chatOfCustomer());
    await page.keyboard.press('Enter');
    const hit = await page.waitForSelector('.hits a');
    await hit?.focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.talk');
    const talk = await textOf(page, '.talk');
    assert.match(talk, /Customer.*Monday at 9/);
    assert.match(talk, /Assistant.*[Bb]ooked/);
    assert.match(talk, /Delivered/);
    await page.goto(new URL('/console/messages?show=settled', page.url()).href);
    assert.match(await textOf(page, '#messages'), /Answered.*Monday at 9/);
  });

  it('fits a phone and a desk on every page', async () => {
    const { chat } = installation.facts().addresses;
    const [run] = await rows<{ id: string; chat: string }>(
      'select turn_id as id, chat_id as chat from tool_runs order by started_at desc limit 1',
    );
    const places = [
      '/',
      '/console/approvals',
      '/console/runs',
      `/console/runs/${run?.id}`,
      '/console/messages',
      '/console/messages?show=all',
      '/console/conversations',
      `/console/conversations/${run?.chat}`,
      '/console/search?q=nobody',
    ];
    for (const [index, place] of [...places, '/console/login'].entries()) {
      for (const size of [PHONE, DESK]) {
        await owner.page.setViewport(size);
        await owner.page.goto(new URL(place, chat).href);
        assert.equal(await overflowOf(owner.page), 0, `${place} at ${size.width} px`);
        await screenshot(
          owner.page,
          `page-${index}-${place.split(/[/?]/).slice(1, 3).join('-') || 'chat'}-${size.width}`,
        );
      }
    }
  });

  it('leaves no error in the browser', () => {
    assert.deepEqual([...customer.complaints, ...owner.complaints], []);
  });

  /** Writes as the customer, and answers what the assistant said then. */
  async function say(text: string): Promise<string[]> {
    const { page } = customer;
    await page.bringToFront();
    const told = repliesAfter(page);
    const box = await page.waitForSelector('::-p-aria(Your message)');
    await box?.type(text);
    await press(page, 'Send');
    return told(1);
  }

  /** The chat that this browser was given. */
  async function chatOfCustomer(): Promise<string> {
    const cookie = (await browser.cookies()).find(({ name }) => name === 'aroko_chat');
    return cookie?.value.split('.')[0] ?? '';
  }

  async function openApproval(): Promise<{ ref: string; date: string }> {
    const { ref, arguments: values } = await installation.api.approvalOf(await chatOfCustomer());
    return { ref, date: String(values?.['date']) };
  }

  function rows<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return installation.query<Row>(sql, values);
  }

  async function bookingsOfCustomers(): Promise<number> {
    return (await rows('select 1 from bookings where contact_id is not null')).length;
  }

  async function assertBooked(start: DateTime): Promise<void> {
    const found = await rows<{ minutes: number }>(
      "select extract(epoch from ends_at - starts_at)::int / 60 as minutes from bookings where starts_at = $1 and state = 'reserved' and contact_id is not null",
      [start.toJSDate()],
    );
    assert.deepEqual(found, [{ minutes: 30 }]);
  }
});

/** Every bubble as "speaker: words". */
async function bubbles(page: Page): Promise<string[]> {
  return page.$$eval('[role="log"] article', (all) =>
    all.map(
      (one) =>
        `${one.querySelector('.speaker')?.textContent ?? ''}: ${one.querySelector('p')?.textContent ?? ''}`,
    ),
  );
}

async function assistantWords(page: Page): Promise<string[]> {
  return (await bubbles(page)).flatMap((line) => (line.startsWith('Assistant: ') ? [line.slice(11)] : []));
}

/** Call it, do something, then wait for so many new replies to appear on the page by themselves. */
function repliesAfter(page: Page): (count: number) => Promise<string[]> {
  const before = assistantWords(page);
  return (count) =>
    eventually('a reply on the page', async () => {
      const fresh = (await assistantWords(page)).slice((await before).length);
      return fresh.length >= count ? fresh : undefined;
    });
}

/** Presses a button by what a screen reader calls it. */
async function press(page: Page, name: string): Promise<void> {
  const button = await page.waitForSelector(`::-p-aria([name="${name}"][role="button"])`);
  await button?.click();
}

async function textOf(page: Page, selector: string): Promise<string> {
  return page.$$eval(selector, (all) => all.map((one) => one.textContent).join('\n'));
}

function nextWeekday(weekday: number): DateTime {
  const today = DateTime.now().setZone(ZONE).startOf('day');
  return today.plus({ days: (weekday - today.weekday + 7) % 7 });
}
