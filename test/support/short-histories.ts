// The usual CLI of Temporal, told to suggest a new history early.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDataDirectory } from '../../local/data-directory.js';
import { findTemporalCli } from '../../local/temporal/cli.js';

/** Writes it into `folder`. A process of its own name, so that its end is the server's end. */
export async function temporalWithShortHistories(folder: string, events: number): Promise<string> {
  const directory = openDataDirectory(join(folder, 'data'));
  const { path } = await findTemporalCli({
    directory,
    progress: () => ({ update: () => undefined, done: () => undefined }),
  });
  const script = join(folder, 'temporal');
  const setting = `limit.historyCount.suggestContinueAsNew=${events}`;
  writeFileSync(
    script,
    [
      '#!/bin/sh',
      `case "$1 $2" in "server start-dev") set -- "$@" --dynamic-config-value ${setting};; esac`,
      `exec ${path} "$@"`,
      '',
    ].join('\n'),
  );
  chmodSync(script, 0o755);
  return script;
}
