// Names that refer to something else in the configuration.
import type { Explained } from './schema/explain.js';
import { nearest } from './suggest.js';

/** Nothing has this name; the one that was probably meant is told. */
export function unknownName(
  path: (string | number)[],
  name: string,
  kind: string,
  names: readonly string[],
): Explained {
  const near = nearest(name, names);
  const list = names.length === 0 ? 'none is defined' : `one of ${names.join(', ')}`;
  return {
    path,
    wrong: `there is no ${kind} "${name}"`,
    right: near === undefined ? list : `did you mean ${near}?`,
  };
}

/** An own property of a mapping by a name that may be anything. */
export function known<T>(mapping: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}
