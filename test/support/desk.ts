// A desk on the run's shared Postgres and Temporal: a database and a namespace of its own.
import { openDesk, type Desk, type DeskOptions } from '../../bench/desk.js';
import { freshDatabase, type TestDatabase } from './postgres.js';
import { freshNamespace } from './temporal.js';

export { until, type Desk, type DeskOptions, type History } from '../../bench/desk.js';

export async function startDesk(options: DeskOptions = {}): Promise<Desk & { urls: TestDatabase }> {
  const [urls, temporal] = await Promise.all([freshDatabase(), freshNamespace()]);
  const desk = await openDesk({ applicationUrl: urls.applicationUrl, temporal }, options);
  return Object.assign(desk, { urls });
}
