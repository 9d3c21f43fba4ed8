// A variable may be given as a file: NAME_FILE holds the path of a file with the value, as container platforms mount
// secrets. So a password never stands in the environment, where every listing of processes shows it.
import { readFileSync } from 'node:fs';

/** The variables, with those that are given as files read. A variable that is set itself counts. */
export function withFiles(
  env: Record<string, string | undefined>,
  names: readonly string[],
): Record<string, string | undefined> {
  const read = names.flatMap((name): [string, string][] => {
    const file = env[`${name}_FILE`];
    if (isSet(env[name]) || file === undefined || !isSet(file)) return [];
    return [[name, valueOf(file)]];
  });
  return { ...env, ...Object.fromEntries(read) };
}

/** A file that can't be read counts as an absent value; the variable is then named as missing. */
function valueOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

function isSet(value: string | undefined): boolean {
  return (value ?? '').trim() !== '';
}
