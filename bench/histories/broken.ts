// Golden histories of tools with a bug in them: a run that fails, and one of which nobody knows what has happened.
import { withBrokenTools } from '../broken-tools.js';
import { ASK, book, type Scene, type SceneGroup } from './scene.js';

const BROKEN: Record<string, Scene> = {
  async 'tool-failed'(desk, chat) {
    await desk.settled(await desk.send(chat, ASK), 60_000);
  },
  async 'effect-unknown'(desk, chat) {
    const id = await desk.send(chat, book('17:30'));
    await desk.decide((await desk.openApproval()).ref, 'approve');
    await desk.settled(id, 120_000);
  },
};

export const broken: SceneGroup = {
  desk: { wrapDeps: (deps) => withBrokenTools(deps, { forgetsEffects: true }) },
  scenes: BROKEN,
};
