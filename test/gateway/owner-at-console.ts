// An owner at the console, without a browser: logs in by a link, opens pages and presses buttons, with htmx or without.
import assert from 'node:assert/strict';
import type { LightMyRequestResponse } from 'fastify';
import type { TestGateway } from './gateway.js';

export interface OwnerAtConsole {
  cookies: Record<string, string>;
  csrf: string;
  /** A page, as a browser asks for it. */
  open(url: string): Promise<LightMyRequestResponse>;
  /** Sends a form. `plain`: as a browser without scripts. `csrf`: another token than the page's. */
  send(
    url: string,
    form: Record<string, string>,
    how?: { plain?: boolean; csrf?: string },
  ): Promise<LightMyRequestResponse>;
}

const HTML = { accept: 'text/html' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export async function ownerAtConsole(
  gateway: Pick<TestGateway, 'app' | 'loginLink'>,
): Promise<OwnerAtConsole> {
  const url = await gateway.loginLink();
  const page = await gateway.app.inject({ url, headers: HTML });
  const csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const answer = await gateway.app.inject({
    method: 'POST',
    url,
    cookies: cookiesOf(page),
    headers: { ...HTML, ...FORM },
    payload: new URLSearchParams({ _csrf: csrf }).toString(),
  });
  assert.equal(answer.statusCode, 303);
  const cookies = { ...cookiesOf(page), ...cookiesOf(answer) };
  return {
    cookies,
    csrf,
    open: (address) => gateway.app.inject({ url: address, cookies, headers: HTML }),
    send: (address, form, { plain = false, csrf: token = csrf } = {}) =>
      gateway.app.inject({
        method: 'POST',
        url: address,
        cookies,
        headers: plain ? { ...HTML, ...FORM } : { ...FORM, 'hx-request': 'true', 'x-csrf-token': token },
        payload: new URLSearchParams(plain ? { ...form, _csrf: token } : form).toString(),
      }),
  };
}

function cookiesOf(response: LightMyRequestResponse): Record<string, string> {
  return Object.fromEntries(response.cookies.map(({ name, value }) => [name, value]));
}

/** What a person would read of markup: no tags, no character references, one space between words. */
export function wordsIn(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#34;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,])/g, '$1');
}
