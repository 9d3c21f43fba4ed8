// Counts round trips to Postgres on the wire: a small relay in front of it that passes every byte on and counts the
// messages after which a client waits for an answer.
import { createServer, connect, type AddressInfo } from 'node:net';

export interface Relay {
  /** The same database, through the relay. */
  url: string;
  count(): number;
  close(): Promise<void>;
}

/** Frontend messages: `Q` simple query, `S` sync; each is answered before the client goes on (protocol version 3). */
const AWAITED = new Set(['Q', 'S'].map((letter) => letter.charCodeAt(0)));
const HEADER_BYTES = 5;

export async function startRelay(databaseUrl: string): Promise<Relay> {
  const target = new URL(databaseUrl);
  let roundTrips = 0;
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    const read = createMessageReader((type) => {
      if (AWAITED.has(type)) roundTrips += 1;
    });
    client.on('data', (chunk: Buffer) => {
      read(chunk);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => client.write(chunk));
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    count: () => roundTrips,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** Calls back for each whole message; the start-up message, which has no type, is passed over. */
function createMessageReader(onMessage: (type: number) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isStarted = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    if (!isStarted && rest.length >= 4 && rest.length >= rest.readInt32BE(0)) {
      rest = rest.subarray(rest.readInt32BE(0));
      isStarted = true;
    }
    while (isStarted && rest.length >= HEADER_BYTES) {
      const length = 1 + rest.readInt32BE(1);
      if (rest.length < length) return;
      onMessage(rest.readUInt8(0));
      rest = rest.subarray(length);
    }
  };
}
