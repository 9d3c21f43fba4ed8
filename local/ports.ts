/** Ports on the loopback address: the wanted one, or the next that is free. */
import { createServer } from 'node:net';

const host = '127.0.0.1';

async function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = address !== null && typeof address === 'object' ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}

/**
 * Finds a free port, beginning at the wanted one and counting up; 0 takes any. A change is said aloud.
 * @throws Error when a hundred ports in a row are busy.
 */
export async function findPort(want: {
  wanted: number;
  purpose: string;
  say: (line: string) => void;
  /** Ports promised to somebody who doesn't listen yet. */
  taken?: ReadonlySet<number>;
}): Promise<number> {
  const last = want.wanted === 0 ? 0 : Math.min(want.wanted + 100, 65_535);
  for (let port = want.wanted; port <= last; port++) {
    if (want.taken?.has(port)) continue;
    const found = await tryPort(port);
    if (found === undefined) continue;
    if (want.wanted !== 0 && found !== want.wanted) {
      want.say(`Port ${want.wanted} is busy; ${want.purpose} takes ${found}.`);
    }
    return found;
  }
  throw new Error(`No free port for ${want.purpose} between ${want.wanted} and ${last} on ${host}.`);
}
