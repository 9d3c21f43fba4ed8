// A copy of the shipped configuration that a test may break.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TenantConfiguration } from '../../config/configuration.js';
import { ConfigurationError, loadConfiguration, type ConfigurationProblem } from '../../config/load.js';

export const SHIPPED = './config';
export const TENANT = 'tenants/harbour-desk';

export class Copy {
  readonly directory = mkdtempSync(join(tmpdir(), 'aroko-config-'));

  constructor() {
    for (const part of ['defaults', 'phrases', 'tenants']) {
      cpSync(join(SHIPPED, part), join(this.directory, part), { recursive: true });
    }
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }

  replace(file: string, before: string, after: string): void {
    const text = this.read(file);
    assert.ok(text.includes(before), `${file} no longer holds ${before}`);
    this.write(file, text.replace(before, after));
  }

  read(file: string): string {
    return readFileSync(join(this.directory, file), 'utf8');
  }

  copy(from: string, to: string): void {
    cpSync(join(this.directory, from), join(this.directory, to), { recursive: true });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  load(): TenantConfiguration {
    const tenant = loadConfiguration(this).tenants.get('harbour-desk');
    assert.ok(tenant);
    return tenant;
  }

  problems(): readonly ConfigurationProblem[] {
    try {
      loadConfiguration(this);
    } catch (error) {
      assert.ok(error instanceof ConfigurationError, String(error));
      for (const { file, path, wrong, right } of error.problems) {
        for (const told of [file, path, wrong, right]) assert.ok(error.message.includes(told), told);
      }
      return error.problems;
    }
    return [];
  }
}
