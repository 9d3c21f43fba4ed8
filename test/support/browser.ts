// A real browser, and what a person would notice in it: errors in the console, requests that failed, pages that scroll
// sideways. The binary comes with a package; it needs two system libraries, and says which when they are missing.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 900 };

export interface WatchedPage {
  page: Page;
  /** What went wrong since the page was opened. */
  complaints: string[];
}

/** The browser, or the reason why there is none. */
export async function openBrowser(): Promise<{ browser: Browser } | { unavailable: string }> {
  try {
    const browser = await puppeteer.launch({
      executablePath: await chromium.executablePath(),
      headless: 'shell',
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--lang=en-GB'],
    });
    return { browser };
  } catch (error) {
    const why =
      error instanceof Error
        ? (error.message.split('\n').find((line) => line.includes('lib')) ?? error.message)
        : '';
    return { unavailable: `Chromium can't be started (${why.trim()}); it needs libnss3 and libnspr4` };
  }
}

/** A tab whose troubles are written down. */
export async function openPage(browser: Browser, size = DESK): Promise<WatchedPage> {
  const page = await browser.newPage();
  await page.setViewport(size);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`script: ${String(error)}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('requestfailed', (request) => {
    // Leaving a page ends its event stream.
    if (request.failure()?.errorText === 'net::ERR_ABORTED') return;
    complaints.push(`failed: ${request.url()} ${request.failure()?.errorText ?? ''}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
  });
  return { page, complaints };
}

/** How many pixels a page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  ) as Promise<number>;
}

/** Saves a picture when AROKO_SCREENSHOTS names a directory. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const directory = process.env['AROKO_SCREENSHOTS'];
  if (directory === undefined || directory === '') return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}
