// One box for whatever somebody has in hand.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { search } from '../../../prisma/stores/views/search.js';
import type { RouteDeps } from '../../deps.js';
import { parsed } from '../../problems.js';
import type { Pages } from './pages.js';
import { peopleOf } from './people.js';
import { Results } from './search.js';
import { PageHead } from './shell.js';

/** Chats that are opened to look for names and parts of numbers. */
const RECENT = 300;

const query = z.object({
  q: z
    .string({ error: 'is the text to look for' })
    .max(200, { error: 'is longer than 200 characters' })
    // What no key types and Postgres takes for no text.
    .transform((text) => text.replace(/[\p{Cc}\p{Cs}]/gu, '').trim())
    .default(''),
});

export function searchRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { active, clock, sendPage } = pages;

  app.get('/console/search', async (request, reply) => {
    const { q: text } = parsed(query, request.query, 'The query');
    const found =
      text === '' ? undefined : await deps.inDesk((scope) => search(scope, { text, recent: RECENT }));
    return sendPage(request, reply, {
      title: 'Search',
      at: 'search',
      head: (
        <PageHead
          title="Search"
          about="By name, number, web address, REF, or the id of a run or a message."
        />
      ),
      part: <Results text={text} found={found} recent={RECENT} people={peopleOf(active())} clock={clock()} />,
    });
  });
}
