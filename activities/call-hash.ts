// What a yes is bound to: the canonical JSON (RFC 8785) of a call, and of the configuration that makes it what it is.
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { TenantConfiguration } from '../config/configuration.js';
import type { JsonObject } from '../workflows/domain/tool.js';

/** One text for one meaning: key order, number form and spaces don't count. */
export function canonicalCall(tool: string, values: JsonObject): string {
  return canonical({ tool, arguments: values });
}

/** SHA-256, hex, of the canonical call. */
export function hashOfCall(tool: string, values: JsonObject): string {
  return sha256(canonicalCall(tool, values));
}

/**
 * SHA-256, hex, of what configuration says about a call of this tool: the tool, the policy and who approves under it, the
 * providers' settings. A changed sentence doesn't void a yes; a changed rule, effect, owner or slot length does.
 */
export function hashOfTerms(configuration: TenantConfiguration, toolName: string): string {
  const { tools, policy, owners, providers } = configuration;
  const tool = tools.find(({ name }) => name === toolName);
  const approvers = owners.map(({ id, groups }) => ({ id, groups }));
  // How a result is told apart is no term of the call.
  const terms = tool && { ...tool, declinedWhen: undefined };
  return sha256(canonical({ tool: terms, policy, approvers, providers }));
}

function canonical(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('this has no canonical form');
  return text;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
