// The secrets of an installation in containers: drawn once, each in a file of its own. What is there is never overwritten,
// because whoever replaces the master key loses every text.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { CliDeps } from '../deps.js';

export function addSecretCommands(program: Command, deps: CliDeps): void {
  program
    .command('secrets')
    .description('draw the secrets of a new installation')
    .helpCommand(false)
    .command('make')
    .description(
      'write passwords, the master key and the tokens, each to a file of its own; keeps what is there',
    )
    .option('--dir <folder>', 'where to', 'secrets')
    .option('--postgres <host:port>', 'where Aroko’s own Postgres is found', 'aroko-postgres:5432')
    .action((options: { dir: string; postgres: string }) => make(deps, options));
}

function make(deps: CliDeps, { dir, postgres }: { dir: string; postgres: string }): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const superuser = password();
  const urlAs = (user: string, secret: string, database: string): string =>
    `postgres://${user}:${secret}@${postgres}/${database}`;
  // The URL of the superuser holds the password of the file beside it: they are made together or not at all.
  const groups: Record<string, string>[] = [
    {
      'aroko-postgres-password': superuser,
      'superuser-database-url': urlAs('postgres', superuser, 'postgres'),
    },
    { 'temporal-postgres-password': password() },
    { 'owner-database-url': urlAs('aroko_owner', password(), 'aroko') },
    { 'database-url': urlAs('aroko_app', password(), 'aroko') },
    { 'read-database-url': urlAs('aroko_read', password(), 'aroko') },
    { 'master-key': randomBytes(32).toString('base64') },
    { 'api-token': randomBytes(32).toString('base64url') },
    { 'metrics-token': randomBytes(32).toString('base64url') },
  ];
  const made: string[] = [];
  const kept: string[] = [];
  for (const group of groups) {
    const names = Object.keys(group);
    if (names.some((name) => existsSync(join(dir, name)))) {
      kept.push(...names);
      continue;
    }
    for (const [name, value] of Object.entries(group)) {
      writeFileSync(join(dir, name), value, { mode: 0o600, flag: 'wx' });
      made.push(name);
    }
  }
  const key = join(dir, 'anthropic-api-key');
  const isKeyMissing = !existsSync(key);
  deps.output.answer(
    { directory: dir, made, kept, missing: isKeyMissing ? ['anthropic-api-key'] : [] },
    (print) => {
      if (made.length > 0) print.line(`Written to ${dir}: ${made.join(', ')}.`);
      if (kept.length > 0) print.line(`Kept as they are: ${kept.join(', ')}.`);
      if (isKeyMissing) print.line(`Still yours to write: ${key}, with the key of your Anthropic account.`);
      print.line('Keep a copy of the master key elsewhere: without it no text can be read any more.');
    },
  );
}

/** Letters and digits only: it stands in URLs. */
function password(): string {
  return randomBytes(24).toString('hex');
}
