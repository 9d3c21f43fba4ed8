// The model program as a process: answers on a loopback port in place of a provider, for an installation without
// an API key and for tests.
import { parseArgs } from 'node:util';
import { createModelServer, MODEL_MODES, type ModelMode } from './server.js';

const LOOPBACK = '127.0.0.1';
/** sysexits.h EX_CONFIG, used by all of Aroko's processes. */
const EXIT_CONFIGURATION = 78;
const HIGHEST_PORT = 65_535;

interface Options {
  port: number;
  mode: ModelMode;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      mode: { type: 'string', default: 'demo' },
      // Not used here: it marks the process as belonging to a data directory, for whoever looks for orphans.
      'data-dir': { type: 'string' },
    },
  });
  const mode = MODEL_MODES.find((candidate) => candidate === values.mode);
  const port = Number(values.port);
  if (!mode) throw new Error(`--mode must be one of ${MODEL_MODES.join(', ')}.`);
  if (!Number.isInteger(port) || port < 0 || port > HIGHEST_PORT) {
    throw new Error(`--port must be a number from 0 (any) to ${HIGHEST_PORT}.`);
  }
  return { port, mode };
}

function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`model: ${message}\n`);
  process.send?.({ type: 'failed', message });
  process.exit(EXIT_CONFIGURATION);
}

async function main(): Promise<void> {
  const { port, mode } = readOptions();
  const server = createModelServer({ mode });
  const stop = (): void => {
    void server.close().finally(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  process.once('disconnect', stop);
  const url = await server.listen({ host: LOOPBACK, port });
  process.stdout.write(`${JSON.stringify({ event: 'model_ready', url, mode })}\n`);
  process.send?.({ type: 'ready', url });
}

await main().catch(fail);
