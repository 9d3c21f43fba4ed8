// A tool as configuration describes it. Nothing here knows any tool by name.

/** Set by configuration, never by what a provider says of itself (design: Effects). */
export const EFFECTS = ['read', 'reversible', 'irreversible', 'human_only'] as const;
export type Effect = (typeof EFFECTS)[number];

export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** Who speaks, decided from gateway-verified identity only, never from text or display names. */
export const ACTORS = ['customer', 'owner', 'group'] as const;
export type Actor = (typeof ACTORS)[number];

export const CHAT_KINDS = ['direct', 'group'] as const;
export type ChatKind = (typeof CHAT_KINDS)[number];

/** Where a chat lives. */
export const CHANNELS = ['web', 'whatsapp-cloud'] as const;
export type Channel = (typeof CHANNELS)[number];

/** JSON as it comes from models, tools and configuration. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** One tool of the catalogue, as the tool files of `config/` gives it after validation. */
export interface ToolDefinition {
  name: string;
  enabled: boolean;
  /** Names a provider registered in `activities/tools`, and one of its operations. */
  provider: string;
  operation: string;
  description: string;
  whenToUse: string;
  whenNotToUse: string;
  aliases: string[];
  triggerPhrases: string[];
  tags: string[];
  examples: string[];
  effect: Effect;
  risk: Risk;
  actors: Actor[];
  chatKinds: ChatKind[];
  /** Answers with data about the speaker's own account. */
  privateData: boolean;
  inputSchema: JsonObject;
  outputSchema: JsonObject;
  /** Values of a result, by its property, with which the tool says that it hasn't done it. Absent: whatever comes back is done. */
  declinedWhen?: Record<string, string[]> | undefined;
  /** Arguments that the runtime fills; the model may not give them. */
  managedFields: string[];
  /** Arguments that hold secrets; never from a model. */
  secretFields: string[];
  timeoutMs: number;
  /** Where the tool was imported from. Absent: it is one of ours. */
  mcp?: { server: string; isTrusted: boolean };
  /** May go on after the first answer; a tool that is not eligible must finish within the acknowledgement deadline. */
  asyncEligible: boolean;
}

/** What policy answers for one call. `confirm` asks the requester, `approve` asks owners. */
export const GATES = ['allow', 'confirm', 'approve', 'deny'] as const;
export type Gate = (typeof GATES)[number];
