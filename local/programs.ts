/** Our own processes as the launcher starts them: the model program, the worker, the gateway. */
import { join } from 'node:path';
import { z } from 'zod';
import { startChild, typescript, type Child } from './child.js';
import type { DataDirectory } from './data-directory.js';
import type { Hold } from './hold.js';

const ready = {
  model: z.object({ type: z.literal('ready'), url: z.url() }),
  worker: z.object({ type: z.literal('ready'), healthUrl: z.url().optional() }),
  gateway: z.object({ type: z.literal('ready'), url: z.url(), loginUrl: z.url().optional() }),
};

/** The first start compiles every file once; on a busy machine that takes its time. */
const readyWithinMs = 60_000;

export interface ProgramContext {
  directory: DataDirectory;
  hold: Hold;
}

interface Program<Ready> {
  name: keyof typeof ready;
  /** Within the checkout. */
  script: string;
  args: string[];
  environment: NodeJS.ProcessEnv;
  ready: z.ZodType<Ready>;
  givesWay?: boolean | undefined;
}

async function startProgram<Ready>(context: ProgramContext, program: Program<Ready>): Promise<Child<Ready>> {
  const { directory, hold } = context;
  const { name } = program;
  const child = await startChild({
    name,
    // The data directory is on the command line so that a later start knows what it finds.
    args: [...typescript(program.script), '--data-dir', directory.root, ...program.args],
    logFile: join(directory.logs, `${name}.log`),
    ready: program.ready,
    readyWithinMs,
    environment: program.environment,
    givesWay: program.givesWay,
    onSpawn: (pid) => hold.note(name, pid),
  });
  return {
    ...child,
    stop: async (graceMs) => {
      await child.stop(graceMs);
      hold.forget(name);
    },
  };
}

export type ModelProgram = Child<z.infer<typeof ready.model>>;
export type WorkerProgram = Child<z.infer<typeof ready.worker>>;
export type GatewayProgram = Child<z.infer<typeof ready.gateway>>;

/** The program that answers in place of a provider; port 0 takes any. */
export async function startModel(
  context: ProgramContext,
  want: { mode: 'demo' | 'scenario'; port: number; environment: NodeJS.ProcessEnv },
): Promise<ModelProgram> {
  const { environment, mode, port } = want;
  const args = ['--port', String(port), '--mode', mode];
  const script = 'local/model/main.ts';
  return startProgram(context, { name: 'model', script, args, environment, ready: ready.model });
}

/** `script` is another composition root of the same worker, for tests; absent means the ordinary one. */
export async function startWorker(
  context: ProgramContext,
  want: { environment: NodeJS.ProcessEnv; script?: string | undefined; givesWay?: boolean | undefined },
): Promise<WorkerProgram> {
  const { environment, script = 'worker/main.ts', givesWay } = want;
  return startProgram(context, {
    name: 'worker',
    script,
    args: [],
    environment,
    ready: ready.worker,
    givesWay,
  });
}

export async function startGateway(
  context: ProgramContext,
  environment: NodeJS.ProcessEnv,
): Promise<GatewayProgram> {
  const script = 'gateway/main.ts';
  return startProgram(context, { name: 'gateway', script, args: [], environment, ready: ready.gateway });
}
