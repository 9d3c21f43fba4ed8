// Events are counted where they are logged: names and facts of the log are stable, so metrics, alerts and log lines can't
// tell different stories, and no code has to say the same thing twice.
import type { Facts, Logger } from './logger.js';

export type EventListener = (name: string, facts: Facts) => void;

/** The same logger; `listener` hears every event before its guard, with the ids of child loggers. */
export function observedLog(log: Logger, listener: EventListener): Logger {
  const withIds = (inner: Logger, ids: Facts): Logger => {
    const heard =
      (write: Logger['event']): Logger['event'] =>
      (name, facts = {}) => {
        write(name, facts);
        listener(name, { ...ids, ...facts });
      };
    return {
      event: heard(inner.event),
      debug: heard(inner.debug),
      warn: heard(inner.warn),
      error: heard(inner.error),
      child: (more) => withIds(inner.child(more), { ...ids, ...more }),
    };
  };
  return withIds(log, {});
}
