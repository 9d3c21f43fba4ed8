// The configuration that is active now. Whoever needs it keeps this object and reads `tenants` each time: after a reload
// the next look finds the new one. What was decided before keeps the hash that it was decided with.
import type { Configuration, TenantConfiguration } from './configuration.js';
import { ConfigurationError, loadConfiguration, type ConfigurationProblem } from './load.js';
import { errorFacts, type Logger } from './logger.js';

export interface CurrentConfiguration extends Configuration {
  /** What became of the last reload; `active` too where there was none. */
  readonly state: 'active' | 'newer_rejected';
  /**
   * Reads the files again, with the same checks as at the start. What can't be used changes nothing. Never throws.
   */
  reload(): ReloadOutcome;
  /** Called after each reload that was taken, with the tenants that have changed. */
  onChange(listener: (changed: TenantConfiguration[]) => void): void;
}

export type ReloadOutcome =
  | { outcome: 'reloaded'; changed: string[] }
  | { outcome: 'rejected'; problems: readonly ConfigurationProblem[] };

/**
 * Loads the configuration of the directory.
 *
 * @throws {ConfigurationError} where it can't be used, which only a reload survives.
 */
export function createCurrentConfiguration(options: {
  directory: string;
  log: Logger;
  /** Where problems are told in full, for a person. They name files and values, so the log holds their places only. */
  say: (text: string) => void;
}): CurrentConfiguration {
  const { directory, log, say } = options;
  let { tenants } = loadConfiguration({ directory });
  let state: CurrentConfiguration['state'] = 'active';
  const listeners: ((changed: TenantConfiguration[]) => void)[] = [];

  function take(next: Configuration): ReloadOutcome {
    const gone = [...tenants.keys()].filter((slug) => !next.tenants.has(slug));
    if (gone.length > 0) return reject(gone.map((slug) => goneProblem(directory, slug)));
    const changed = [...next.tenants.values()].filter(({ slug, hash }) => tenants.get(slug)?.hash !== hash);
    // What hasn't changed stays the same object, so that nothing is built from it again.
    tenants = new Map([...next.tenants].map(([slug, tenant]) => [slug, same(tenants.get(slug), tenant)]));
    state = 'active';
    for (const { slug, hash } of tenants.values()) {
      const isChanged = changed.some((tenant) => tenant.slug === slug);
      log.event('configuration.reloaded', { tenant: slug, hash, changed: isChanged });
    }
    for (const listener of listeners) listener(changed);
    return { outcome: 'reloaded', changed: changed.map(({ slug }) => slug) };
  }

  function reject(problems: readonly ConfigurationProblem[]): ReloadOutcome {
    state = 'newer_rejected';
    if (problems.length > 0) say(`${new ConfigurationError(problems).message}\n${UNCHANGED}\n`);
    for (const { file, path, line } of problems) log.warn('configuration.problem', { file, path, line });
    log.error('configuration.rejected', { problems: problems.length });
    return { outcome: 'rejected', problems };
  }

  return {
    get tenants() {
      return tenants;
    },
    get state() {
      return state;
    },
    onChange: (listener) => void listeners.push(listener),
    reload() {
      try {
        return take(loadConfiguration({ directory }));
      } catch (error) {
        if (error instanceof ConfigurationError) return reject(error.problems);
        // A file that can't be opened, a folder that is being replaced.
        log.error('configuration.unreadable', errorFacts(error));
        return reject([]);
      }
    },
  };
}

const UNCHANGED = 'Nothing has changed: the configuration from before stays active.';

function same(known: TenantConfiguration | undefined, read: TenantConfiguration): TenantConfiguration {
  return known?.hash === read.hash ? known : read;
}

/** Its chats would have nobody who answers; to end a business takes a restart. */
function goneProblem(directory: string, slug: string): ConfigurationProblem {
  return {
    file: `${directory}/tenants/${slug}`,
    path: '',
    wrong: 'this business is at work and its folder is gone',
    right: 'the folder as it was, or a restart without it',
  };
}
