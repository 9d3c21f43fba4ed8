// The switch of all effects, and chats that go back to the assistant: the same store functions as the command line's.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { effectsState, switchEffects } from '../../../prisma/stores/switches.js';
import { releaseChat } from '../../../prisma/stores/takeover.js';
import { takenChats } from '../../../prisma/stores/views/desk.js';
import { chatExists } from '../../../prisma/stores/views/without-content.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { Controls } from './controls.js';
import type { Pages } from './pages.js';
import { ownerOf } from './session.js';
import { Notice, PageHead } from './shell.js';

const AT_ONCE = 100;

const switchForm = z.object({ to: z.enum(['on', 'off'], { error: 'is "on" or "off"' }) });
const chatKey = z.object({ id: z.uuid({ error: 'is not the id of a chat' }) });

export function controlRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { desk, inDesk, conversations } = deps;
  const { active, clock, send, sendPage } = pages;
  const guarded = { preHandler: app.csrfProtection };

  async function part(reply: FastifyReply): Promise<JSX.Element> {
    const { effects, taken } = await inDesk(async (scope) => ({
      effects: await effectsState(scope),
      taken: await takenChats(scope, { limit: AT_ONCE }),
    }));
    return (
      <Controls
        effects={effects}
        taken={taken}
        owners={active().owners}
        operators={active().operators}
        csrfToken={reply.generateCsrf()}
        clock={clock()}
      />
    );
  }

  async function page(
    request: FastifyRequest,
    reply: FastifyReply,
    notice?: { words: string; isGood: boolean },
  ): Promise<FastifyReply> {
    return sendPage(request, reply, {
      title: 'Controls',
      at: 'controls',
      head: <PageHead title="Controls" about="What you can stop at once, and let go on." />,
      part: await part(reply),
      ...(notice && { notice }),
    });
  }

  /** What came of it, with the list as it is now. */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    notice: { words: string; isGood: boolean },
  ): Promise<FastifyReply> {
    if (request.headers['hx-request'] !== 'true') {
      return notice.isGood ? reply.redirect('/console/controls', 303) : page(request, reply, notice);
    }
    const safePart = await part(reply);
    return send(
      reply.header('hx-trigger', 'controlsChanged'),
      <>
        {safePart}
        <Notice {...notice} outOfBand />
      </>,
    );
  }

  app.get('/console/controls', (request, reply) => page(request, reply));
  app.get('/console/controls/list', async (_request, reply) => send(reply, await part(reply)));

  app.post('/console/controls/effects', guarded, async (request, reply) => {
    const { to } = parsed(switchForm, request.body, 'The form');
    const by = `owner:${ownerOf(request).ownerId}`;
    const { changed } = await inDesk((scope) => switchEffects(scope, { to, by }));
    const words = changed ? `Effects are ${to} now.` : `Effects were ${to} already.`;
    return answer(request, reply, { words, isGood: true });
  });

  app.post('/console/controls/chats/:id/release', guarded, async (request, reply) => {
    const { id: chatId } = parsed(chatKey, request.params, 'The address');
    const by = `owner:${ownerOf(request).ownerId}`;
    const { outcome } = await inDesk(async (scope) => {
      if (!(await chatExists(scope.tx, chatId))) {
        throw new Problem(404, 'not_found', 'There is no such chat.');
      }
      return releaseChat(scope, { chatId, by });
    });
    if (outcome === 'not_taken') {
      return answer(request, reply, { words: 'The assistant had this chat already.', isGood: false });
    }
    // Not waited for: a conversation that misses the bell looks by itself.
    void conversations.deskChanged({ tenantId: desk.tenantId, chatId });
    return answer(request, reply, { words: 'The assistant answers in this chat again.', isGood: true });
  });
}
