// One problem of the configuration: where it is, what is wrong, what would be right. All are reported together.

export interface ConfigurationProblem {
  /** As one would open it from where the process was started. */
  file: string;
  /** Dotted path within the merged configuration, such as `tools.reserve_slot.risk`; empty: the file as a whole. */
  path: string;
  /** Line in the file, from 1; absent where nothing in the file corresponds. */
  line?: number;
  wrong: string;
  right: string;
}

/** Exit code of a process whose configuration is broken (EX_CONFIG of sysexits.h): restarting can't help. */
export const EXIT_CONFIGURATION = 78;

/** The configuration can't be used. Its message lists every problem. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(readonly problems: readonly ConfigurationProblem[]) {
    super([headline(problems.length), ...problems.map(inWords)].join('\n'));
  }
}

function headline(count: number): string {
  return count === 1 ? 'The configuration has a problem:' : `The configuration has ${count} problems:`;
}

function inWords({ file, path, line, wrong, right }: ConfigurationProblem): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return `  ${place}${path === '' ? '' : `  ${path}`}\n      ${wrong}; ${right.startsWith('did you mean') ? right : `right would be: ${right}`}`;
}
