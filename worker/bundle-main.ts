// A step of the build: bundles the compiled workflows beside them, so that a worker starts without a bundler.
import { writeFile } from 'node:fs/promises';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { PREBUILT_BUNDLE, WORKFLOWS } from './workflow-source.js';

const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('WARN') });
await writeFile(PREBUILT_BUNDLE, code);
