// The migrations as a command: `AROKO_OWNER_DATABASE_URL=… node --import tsx prisma/migrate-main.ts`. Composition root.

import { migrate } from './migrate.js';

const CONFIGURATION_EXIT_CODE = 78;

const ownerUrl = process.env.AROKO_OWNER_DATABASE_URL;
if (!ownerUrl) {
  process.stderr.write('AROKO_OWNER_DATABASE_URL is missing: the database, as the role aroko_owner.\n');
  process.exitCode = CONFIGURATION_EXIT_CODE;
} else {
  try {
    const { applied } = await migrate({ ownerUrl, log: (line) => process.stdout.write(`${line}\n`) });
    if (applied.length === 0) process.stdout.write('nothing to apply\n');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
