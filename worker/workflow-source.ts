// Where the worker finds its workflows: the source tree's or the build's entry, and the bundle that a build has beside it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isSource = import.meta.url.endsWith('.ts');

/** The extension differs between the source tree and the build; the bundler reads either. */
export const WORKFLOWS = fileURLToPath(
  new URL(`../workflows/index${isSource ? '.ts' : '.js'}`, import.meta.url),
);
export const PREBUILT_BUNDLE = fileURLToPath(new URL('../workflows/bundle.cjs', import.meta.url));

/** An option of the SDK's worker: a bundle, or where the bundler begins. */
export type WorkflowSource =
  { workflowBundle: { codePath: string } | { code: string } } | { workflowsPath: string };

/** For the options of a worker. The source tree is always bundled anew: a bundle that lies about would be an old one. */
export function workflowSource(): WorkflowSource {
  return !isSource && existsSync(PREBUILT_BUNDLE)
    ? { workflowBundle: { codePath: PREBUILT_BUNDLE } }
    : { workflowsPath: WORKFLOWS };
}
