// Generates the Prisma client when the schema or Prisma's version has changed since the last time; otherwise it returns at once.
// Plain JavaScript, because it runs before anything else does. `node prisma/generate.js`

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const room = dirname(fileURLToPath(import.meta.url));
const manifestPath = createRequire(import.meta.url).resolve('prisma/package.json');
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
const stampPath = join(room, 'generated', '.made-from');
const stamp = createHash('sha256')
  .update(manifest.version)
  .update(readFileSync(join(room, 'schema.prisma')))
  .digest('hex');

if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== stamp) {
  const { status, error, stdout, stderr } = spawnSync(
    process.execPath,
    [join(dirname(manifestPath), manifest.bin.prisma), 'generate', '--no-hints'],
    {
      cwd: dirname(room),
      encoding: 'utf8',
      // Prisma fetches its schema engine before every command, also before those that don't use it. `generate` is one of
      // them: any executable keeps it content.
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
        CHECKPOINT_DISABLE: '1',
      },
    },
  );
  if (status === 0) {
    writeFileSync(stampPath, stamp);
  } else {
    process.stderr.write(
      `The Prisma client could not be generated.\n${error?.message ?? ''}${stdout ?? ''}${stderr ?? ''}`,
    );
    process.exitCode = 1;
  }
}
