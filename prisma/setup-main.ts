// Prepares a database, as a command: makes the roles and the database where a superuser is given, and applies the migrations.
// Safe to repeat; run it before a new version starts. Composition root.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { withFiles } from '../config/environment-files.js';
import { bootstrapDatabase } from './bootstrap.js';
import { migrate } from './migrate.js';

const EXIT_CONFIGURATION = 78;

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });
const variables = z.object({
  /** The database as the role aroko_owner. */
  AROKO_OWNER_DATABASE_URL: postgresUrl,
  /** With it, roles and database are made, with the passwords that the other URLs hold. */
  AROKO_SUPERUSER_DATABASE_URL: postgresUrl.optional(),
  AROKO_DATABASE_URL: postgresUrl.optional(),
  AROKO_READ_DATABASE_URL: postgresUrl.optional(),
});

const env = withFiles(process.env, Object.keys(variables.shape));
const present = Object.fromEntries(Object.entries(env).filter(([, value]) => (value ?? '').trim() !== ''));
const read = variables.safeParse(present);
if (!read.success) {
  const names = [...new Set(read.error.issues.map(({ path }) => path.join('.')))];
  process.stderr.write(`A postgres:// URL is missing or malformed: ${names.join(', ')}.\n`);
  process.exitCode = EXIT_CONFIGURATION;
} else if (
  read.data.AROKO_SUPERUSER_DATABASE_URL !== undefined &&
  read.data.AROKO_DATABASE_URL === undefined
) {
  process.stderr.write(
    'AROKO_DATABASE_URL is missing: the password of the application role is taken from it.\n',
  );
  process.exitCode = EXIT_CONFIGURATION;
} else {
  try {
    await setUp(read.data);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

async function setUp(urls: z.infer<typeof variables>): Promise<void> {
  const say = (line: string): boolean => process.stdout.write(`${line}\n`);
  const { AROKO_SUPERUSER_DATABASE_URL: superuserUrl, AROKO_OWNER_DATABASE_URL: ownerUrl } = urls;
  if (superuserUrl !== undefined) {
    await bootstrapDatabase({
      superuserUrl,
      database: decodeURIComponent(new URL(ownerUrl).pathname.slice(1)),
      passwords: {
        owner: passwordOf(ownerUrl),
        app: passwordOf(urls.AROKO_DATABASE_URL),
        read: passwordOf(urls.AROKO_READ_DATABASE_URL),
      },
    });
    say('roles and database are there');
  }
  const { applied } = await migrate({ ownerUrl, log: say });
  if (applied.length === 0) say('nothing to apply');
}

/** Nobody can log in as a role whose URL isn't given: its password is drawn and forgotten. */
function passwordOf(url: string | undefined): string {
  const password = url === undefined ? '' : decodeURIComponent(new URL(url).password);
  return password === '' ? randomBytes(24).toString('hex') : password;
}
