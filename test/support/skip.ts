// A test that can't run here says why; the reporter prints it. `it.skip` has no place for a reason and is refused by lint.
import type { Context, Runnable, Suite } from 'mocha';

const REASON = 'skipReason';

/** Skips the test, or in a hook every test of the suite. `skipAloud(this, 'no browser can be installed here')` */
export function skipAloud(context: Context, reason: string): never {
  const { test } = context;
  // A hook stands for its suite: the tests it skips never run themselves.
  const target = test && Reflect.get(test, 'type') === 'hook' ? test.parent : test;
  if (target) Object.assign(target, { [REASON]: reason });
  return context.skip();
}

/** The reason given for a test or for a suite around it. */
export function reasonOf(test: Runnable): string | undefined {
  for (let one: Runnable | Suite | undefined = test; one; one = one.parent) {
    const reason: unknown = Reflect.get(one, REASON);
    if (typeof reason === 'string') return reason;
  }
  return undefined;
}
