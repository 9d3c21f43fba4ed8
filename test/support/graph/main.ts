// The fake Graph server as a process: `node --import tsx test/support/graph/main.ts --help`. A worker sends through it with
// AROKO_GRAPH_URL; `--webhook` calls a gateway back with signed statuses and with what `/control/customer` makes customers
// write.
import { Command } from 'commander';
import { startFakeGraph } from './server.js';
import { STATUSES, type Status } from './webhooks.js';

interface Options {
  port: string;
  number: string;
  displayNumber: string;
  token?: string;
  webhook?: string;
  appSecret: string;
  statuses: string;
}

const options = new Command('graph')
  .description('A Graph server that is not the real one: takes WhatsApp messages, and reports on them')
  .option('--port <port>', 'where it listens; 0 is any free port', '8400')
  .option('--number <id>', 'the phone number id that it knows', '100000000000002')
  .option('--display-number <number>', 'the number as people dial it', '905550001122')
  .option('--token <token>', 'the only access token that is good; absent: any')
  .option('--webhook <url>', 'where statuses and messages go; {account} stands for the number id')
  .option('--app-secret <secret>', 'what webhooks are signed with', 'fake-app-secret')
  .option('--statuses <list>', 'reported of each message', 'sent,delivered,read')
  .parse()
  .opts<Options>();

const statuses = options.statuses
  .split(',')
  .filter((one): one is Status => STATUSES.some((status) => status === one));
const fake = await startFakeGraph(
  {
    numbers: [{ accountKey: options.number, displayNumber: options.displayNumber }],
    token: options.token,
    ...(options.webhook !== undefined && {
      webhook: { url: options.webhook, appSecret: options.appSecret },
    }),
    statuses: { statuses, delayMs: [50, 400] },
  },
  Number(options.port),
);
process.stdout.write(`${JSON.stringify({ event: 'graph_ready', url: fake.url, number: options.number })}\n`);
process.send?.({ type: 'ready', url: fake.url });
const stop = (): void => {
  void fake.close().finally(() => process.exit(0));
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
process.once('disconnect', stop);
