// What has happened and what is under way: chats, runs, messages, and how to find one of them.
import type { FastifyInstance } from 'fastify';
import type { RouteDeps } from '../../deps.js';
import { conversationRoutes } from './conversation-routes.js';
import { messageRoutes } from './message-routes.js';
import type { Pages } from './pages.js';
import { runRoutes } from './run-routes.js';
import { searchRoutes } from './search-routes.js';

export function recordRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  conversationRoutes(app, deps, pages);
  runRoutes(app, deps, pages);
  messageRoutes(app, deps, pages);
  searchRoutes(app, deps, pages);
}
