// Tools with a bug in them: for histories of runs that fail, and for the tests that find and replay such runs.
import type { ActivityDeps } from '../activities/deps.js';
import type { ToolOperation, ToolProvider } from '../activities/tools/provider.js';

export interface Bug {
  /** Asked at each call; absent: always broken. */
  isBroken?: () => boolean;
  /** What the bug throws; a tool's own error may hold anything. Absent: a TypeError. */
  error?: () => Error;
  /** Nobody can tell any more whether an effect happened. */
  forgetsEffects?: boolean;
}

/** Every operation of every tool throws, for as long as it is broken. */
export function withBrokenTools(deps: ActivityDeps, bug: Bug): ActivityDeps {
  const { isBroken = () => true, error = () => new TypeError('a bug in a tool') } = bug;
  const broken = ({ call, didItHappen }: ToolOperation): ToolOperation => ({
    ...(didItHappen && !bug.forgetsEffects && { didItHappen }),
    async call(given) {
      if (isBroken()) throw error();
      return call(given);
    },
  });
  const providers = Object.entries(deps.providers).map(([name, provider]): [string, ToolProvider] => {
    const operations = Object.entries(provider.operations).map(([key, one]) => [key, broken(one)] as const);
    return [name, { ...provider, operations: Object.fromEntries(operations) }];
  });
  return { ...deps, providers: Object.fromEntries(providers) };
}
