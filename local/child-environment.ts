/** What worker and gateway are told through their environment, and which model answers. */
import { join } from 'node:path';
import { projectRoot } from './child.js';
import type { DataDirectory } from './data-directory.js';

/** Which model answers: Claude by its key, another server that speaks its protocol, or our own small program. */
export type ModelChoice = { kind: 'claude' } | { kind: 'compatible'; url: string } | { kind: 'demo' };

/** Decides by what is set; a base URL without a key means a server that needs none. */
export function chooseModel(environment: NodeJS.ProcessEnv): ModelChoice {
  const { ANTHROPIC_API_KEY: key = '', ANTHROPIC_BASE_URL: url = '' } = environment;
  if (key === '' && url === '') return { kind: 'demo' };
  return url === '' ? { kind: 'claude' } : { kind: 'compatible', url };
}

/** Says in plain words which model answers. */
export function describeModel(choice: ModelChoice): string[] {
  switch (choice.kind) {
    case 'claude':
      return ['Claude, with your ANTHROPIC_API_KEY'];
    case 'compatible':
      return [`the one at ${choice.url} (ANTHROPIC_BASE_URL)`];
    case 'demo':
      return [
        'demo model: a small program on this machine, not a language model',
        'For real answers set ANTHROPIC_API_KEY and start again.',
      ];
  }
}

function modelVariables(choice: ModelChoice, demoUrl: string | undefined): NodeJS.ProcessEnv {
  switch (choice.kind) {
    case 'claude':
      return {};
    case 'compatible':
      return { ANTHROPIC_API_KEY: 'local', AROKO_MODEL_LABEL: `model at ${choice.url}` };
    case 'demo':
      return { ANTHROPIC_API_KEY: 'local', ANTHROPIC_BASE_URL: demoUrl, AROKO_MODEL_LABEL: 'demo model' };
  }
}

/** Directory of the configuration: the one that is set, else the one in the checkout. */
export function configDirectory(environment: NodeJS.ProcessEnv): string {
  return environment['AROKO_CONFIG_DIR'] ?? join(projectRoot, 'config');
}

/** The whole environment of worker and gateway; what the person set stays unless the launcher decides it. */
export function childEnvironment(from: {
  inherited: NodeJS.ProcessEnv;
  directory: DataDirectory;
  applicationUrl: string;
  temporal: { address: string; uiUrl: string };
  choice: ModelChoice;
  demoUrl: string | undefined;
}): NodeJS.ProcessEnv {
  const { inherited, directory, temporal } = from;
  return {
    ...modelVariables(from.choice, from.demoUrl),
    // Any free port; run.json says which.
    AROKO_WORKER_HEALTH_PORT: '0',
    ...Object.fromEntries(Object.entries(inherited).filter(([, value]) => value !== '')),
    AROKO_CONFIG_DIR: configDirectory(inherited),
    AROKO_DATABASE_URL: from.applicationUrl,
    AROKO_TEMPORAL_ADDRESS: temporal.address,
    AROKO_TEMPORAL_NAMESPACE: 'default',
    AROKO_TEMPORAL_UI_URL: temporal.uiUrl,
    AROKO_MASTER_KEY_FILE: directory.masterKeyFile,
    AROKO_API_TOKEN_FILE: directory.apiTokenFile,
    AROKO_GATEWAY_HOST: '127.0.0.1',
  };
}
