// The worker process. Parts are put together in start-worker.ts; this file only reads the environment.
import { TokenFileError } from '../config/bearer.js';
import { workerEnvironment } from '../config/environment.js';
import { runProcess } from '../config/process.js';
import { MasterKeyFileError } from '../prisma/keys.js';
import { startWorker } from './start-worker.js';

await runProcess((opened) => startWorker({ environment: workerEnvironment(process.env), opened }), {
  configurationErrors: [MasterKeyFileError, TokenFileError],
});
