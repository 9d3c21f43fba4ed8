/** `run.json`: what other programs (tests, scripts, a person) need to find a running Aroko. */
import { renameSync, writeFileSync } from 'node:fs';
import type { DataDirectory } from './data-directory.js';

/** Content of the file. Addresses of parts that don't run here are absent. */
export interface RunFacts {
  pid: number;
  startedAt: string;
  dataDir: string;
  addresses: {
    chat: string;
    console: string;
    api: string;
    temporalUi: string;
    temporal: string;
    postgres: string;
    model?: string;
    /** Health and metrics of the worker. */
    worker?: string;
  };
  pids: {
    launcher: number;
    postgres: number;
    temporal: number;
    model?: number;
    worker: number;
    gateway: number;
  };
  apiTokenFile: string;
}

/** Writes the file whole: a reader sees the old one or the new one. */
export function writeRunFile(directory: DataDirectory, facts: RunFacts): void {
  const draft = `${directory.runFile}.draft`;
  writeFileSync(draft, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, directory.runFile);
}
