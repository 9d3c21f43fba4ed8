/** A launcher for tests to kill: starts both servers in the directory it is given and reports their process ids. */
import { startEmbedded } from '../../local/embedded.js';

const [, , dataDir = ''] = process.argv;
const embedded = await startEmbedded({ dataDir, log: () => undefined });
process.send?.({ type: 'ready', ...embedded.postgres.pids, ...embedded.temporal.pids, ...ports() });

function ports(): { superuserUrl: string; address: string } {
  return { superuserUrl: embedded.postgres.superuserUrl, address: embedded.temporal.address };
}
