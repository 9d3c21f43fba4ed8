// Secrets are files, one per name, in one directory: what container platforms mount, and what never lies in a
// configuration file, an environment listing or a log.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Secrets {
  /** The value, without a line break at its end. Undefined: no such file, or an empty one. */
  get(name: string): string | undefined;
}

/** Reads each secret when it is asked for, so that a rotated file counts without a restart. No directory: no secrets. */
export function createSecrets({ directory }: { directory?: string | undefined }): Secrets {
  return {
    get(name) {
      if (directory === undefined || !/^[a-z][a-z0-9-]{0,63}$/.test(name)) return undefined;
      try {
        const value = readFileSync(join(directory, name), 'utf8').replace(/\r?\n$/, '');
        return value === '' ? undefined : value;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
