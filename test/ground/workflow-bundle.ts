// What the sandbox is given, read from the bundle itself.
import { join, sep } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

/** The SDK's workflow side and what it needs itself. */
const PACKAGES = ['@temporalio/workflow', '@temporalio/common', 'nexus-rpc', 'ms', 'long'];
const INLINE_MAP = 'sourceMappingURL=data:application/json;charset=utf-8;base64,';
const silent = (): void => undefined;
const logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };

export interface WorkflowBundle {
  code: string;
  /** Every file that went into it, as its source map names them. */
  sources: string[];
}

/** Bundles as the worker does. @throws Error where a module of Node is reached */
export async function bundleOf(workflowsPath: string): Promise<WorkflowBundle> {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger });
  const at = code.lastIndexOf(INLINE_MAP);
  if (at < 0) throw new Error('The bundle carries no source map.');
  const map: unknown = JSON.parse(Buffer.from(code.slice(at + INLINE_MAP.length), 'base64').toString('utf8'));
  const sources: unknown = Reflect.get(Object(map), 'sources');
  if (!Array.isArray(sources)) throw new Error('The source map of the bundle names no sources.');
  return { code, sources: sources.map(String) };
}

/** Files of the bundle that are neither of `workflows/` in `tree` nor of the SDK. */
export function foreignSources({ sources }: WorkflowBundle, tree: string): string[] {
  return sources.filter((source) => {
    const packaged = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source);
    if (packaged) return !PACKAGES.includes(packaged[1] ?? '');
    return !source.startsWith(join(tree, 'workflows') + sep) && !source.startsWith('webpack/');
  });
}
