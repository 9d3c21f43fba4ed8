/**
 * Holds a foreign program that knows nothing of our channel: starts the command behind `--`, passes signals on, and
 * ends it when the launcher's channel closes, so that nothing outlives a killed launcher.
 * Plain JavaScript: it starts in a moment and needs no loader.
 */
import { spawn } from 'node:child_process';

const graceMs = 5_000;
const [command, ...args] = process.argv.slice(process.argv.indexOf('--') + 1);
if (command === undefined) throw new Error('usage: leash.js [--data-dir DIR] -- COMMAND [ARGUMENT…]');

const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });

let isEnding = false;
const end = () => {
  if (isEnding) return;
  isEnding = true;
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), graceMs);
};

child.once('spawn', () => process.send?.({ type: 'ready', pid: child.pid }));
child.once('error', (error) => {
  process.send?.({ type: 'failed', message: error.message });
  process.exitCode = 1;
  process.disconnect?.();
});
child.once('exit', (code) => process.exit(isEnding ? 0 : (code ?? 1)));
process.once('disconnect', end);
process.once('SIGTERM', end);
process.once('SIGINT', end);
