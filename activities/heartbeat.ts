// Heartbeats tell a dead worker apart from a slow provider within the heartbeat time-out (10 s).
import { asyncLocalStorage, heartbeat } from '@temporalio/activity';

/** The first beat at 3 s: quick work never beats at all, and three beats fit into the time-out. */
const BEAT_EVERY_MS = 3_000;

/** Outside of an activity, where tests call one, nobody waits for a beat. */
export async function withHeartbeat<Result>(work: () => Promise<Result>): Promise<Result> {
  const beating = setInterval(() => asyncLocalStorage.getStore() && heartbeat(), BEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(beating);
  }
}
