// The HTTP surface of the model program: the Messages API, and in mode `scenario` the controls for tests.
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { readConversation } from './conversation.js';
import { deliver } from './deliver.js';
import { answer } from './demo/answer.js';
import { createRequestLog, type RequestLog } from './request-log.js';
import { createScenario, type Scenario, type ScriptedAnswer } from './scenario.js';
import {
  BODY_LIMIT_BYTES,
  errorBody,
  inputTokens,
  newId,
  parseRequest,
  toMessage,
  type ModelRequest,
  type Reply,
} from './wire.js';

export const MODEL_MODES = ['demo', 'scenario'] as const;
export type ModelMode = (typeof MODEL_MODES)[number];

/**
 * Builds the server without listening. `demo` answers from the request alone; `scenario` takes queued answers
 * first and can be asked what it received.
 */
export function createModelServer(options: { mode: ModelMode }): FastifyInstance {
  const server = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: () => newId('req'),
    requestIdHeader: false,
    // A scripted silence holds its connection open for ever; closing must not wait for it.
    forceCloseConnections: true,
  });
  const scenario = options.mode === 'scenario' ? createScenario() : undefined;
  const log = createRequestLog({ keepContents: scenario !== undefined });

  server.addHook('onRequest', async (request, reply) => {
    void reply.header('request-id', request.id);
  });
  server.setErrorHandler((error: unknown, request, reply) => sendError(request, reply, error));
  server.setNotFoundHandler((request, reply) =>
    reply.code(404).send(errorBody(404, `${request.method} ${request.url.split('?')[0] ?? ''}`, request.id)),
  );

  messageRoutes(server, { log, scenario });
  server.get('/control/counts', () => log.counts());
  if (scenario) controlRoutes(server, { log, scenario });
  return server;
}

function messageRoutes(
  server: FastifyInstance,
  context: { log: RequestLog; scenario: Scenario | undefined },
): void {
  const { log, scenario } = context;

  server.post('/v1/messages', async (request, reply) => {
    const checked = checkRequest(request);
    if ('status' in checked) return refuse(request, reply, checked);
    const script = scenario?.take({
      lastUserText: lastUserText(checked.request),
      withTools: (checked.request.tools ?? []).length > 0,
    });
    const answeredBy = script ? 'scenario' : 'demo';
    log.note(
      { requestId: request.id, answeredBy, headers: request.headers, body: request.body },
      checked.request,
    );
    return deliver({
      reply,
      requestId: request.id,
      stream: checked.request.stream === true,
      script,
      message: () => toMessage(checked.request, scriptedReply(script) ?? answer(checked.request)),
    });
  });

  server.post('/v1/messages/count_tokens', async (request, reply) => {
    // Counting takes the same body without `max_tokens`.
    const body = typeof request.body === 'object' ? { max_tokens: 1, ...request.body } : request.body;
    const checked = checkRequest(request, body);
    if ('status' in checked) return refuse(request, reply, checked);
    return { input_tokens: inputTokens(checked.request) };
  });
}

function controlRoutes(server: FastifyInstance, context: { log: RequestLog; scenario: Scenario }): void {
  const { log, scenario } = context;
  server.post('/control/scenario', async (request, reply) => {
    const problem = scenario.add(request.body);
    if (problem) return refuse(request, reply, { status: 400, message: problem });
    return { waiting: scenario.waiting() };
  });
  server.get('/control/scenario', () => ({ waiting: scenario.waiting() }));
  server.delete('/control/scenario', async (_request, reply) => {
    scenario.clear();
    return reply.code(204).send();
  });
  server.get('/control/requests', () => ({ requests: log.requests() }));
  server.delete('/control/requests', async (_request, reply) => {
    log.clear();
    return reply.code(204).send();
  });
}

interface Refusal {
  status: number;
  message: string;
}

function checkRequest(http: FastifyRequest, body: unknown = http.body): { request: ModelRequest } | Refusal {
  const { authorization, 'x-api-key': key, 'anthropic-version': version } = http.headers;
  const bearer = authorization?.match(/^Bearer\s+(\S+)$/i)?.[1];
  if (!bearer && !key) return { status: 401, message: 'invalid x-api-key' };
  if (!version) return { status: 400, message: 'anthropic-version: header is required' };
  const parsed = parseRequest(body);
  return 'problem' in parsed ? { status: 400, message: parsed.problem } : parsed;
}

function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply.code(refusal.status).send(errorBody(refusal.status, refusal.message, request.id));
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const status = statusOf(error) ?? 500;
  // Messages of unexpected errors may quote the request; those of refused requests are Fastify's own.
  const message = status < 500 && error instanceof Error ? error.message : 'Internal server error';
  if (status >= 500)
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.name) : 'error'}\n`);
  return refuse(request, reply, { status, message });
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** Undefined when the script only changes how something is sent, not what. */
function scriptedReply(script: ScriptedAnswer | undefined): Reply | undefined {
  if (!script) return undefined;
  const { text, toolUse, stopReason } = script;
  if (text === undefined && toolUse === undefined && stopReason === undefined) return undefined;
  return {
    content: [
      ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
      ...(toolUse ?? []).map(({ name, input, id }) => ({
        type: 'tool_use' as const,
        name,
        input,
        ...(id === undefined ? {} : { id }),
      })),
    ],
    stopReason: stopReason ?? (toolUse && toolUse.length > 0 ? 'tool_use' : 'end_turn'),
  };
}

function lastUserText(request: ModelRequest): string {
  return readConversation(request).lastUserText;
}
