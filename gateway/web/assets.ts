// The files that pages load: our own, and three of packages. Read once at start and served with an ETag, so that a new
// version is seen at once and an old one costs nothing.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problems.js';

const { resolve } = createRequire(import.meta.url);
const own = (name: string): string => fileURLToPath(new URL(`./assets/${name}`, import.meta.url));

const FILES: Record<string, string> = {
  'style.css': own('style.css'),
  'icon.svg': own('icon.svg'),
  'chat.js': own('chat.js'),
  'console.js': own('console.js'),
  'times.js': own('times.js'),
  'relative-time.js': own('relative-time.js'),
  'pico.css': resolve('@picocss/pico/css/pico.min.css'),
  'htmx.js': resolve('htmx.org/dist/htmx.min.js'),
  'htmx-sse.js': resolve('htmx-ext-sse/dist/sse.min.js'),
};

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

export async function assetRoutes(app: FastifyInstance): Promise<void> {
  const assets = new Map<string, { body: Buffer; type: string; etag: string }>();
  for (const [name, path] of Object.entries(FILES)) {
    const body = await readFile(path);
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"`;
    const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
    assets.set(name, { body, type, etag });
  }
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const asset = assets.get(request.params.name);
    if (!asset) throw new Problem(404, 'not_found', 'There is no such file.');
    reply.header('etag', asset.etag).header('cache-control', 'no-cache');
    if (request.headers['if-none-match'] === asset.etag) return reply.code(304).send();
    return reply.type(asset.type).send(asset.body);
  });
  app.get('/favicon.ico', async (_request, reply) => reply.redirect('/assets/icon.svg', 302));
}
