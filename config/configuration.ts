// What a tenant's configuration is once it has been read, merged and checked: plain, deep-frozen data. Other rooms import
// these types and never read a YAML file themselves. What
// each number is for stands beside it in defaults/*.yaml.
import type { ToolDefinition } from '../workflows/domain/tool.js';
import type { Profile, TurnDecision } from '../workflows/domain/turn.js';
import type { TimeWindow, Weekday } from './calendar.js';
import type { PhraseBook } from './phrases.js';
import type { Policy } from './policy-rules.js';
import type { ProviderSettings } from './schema/providers.js';
import type { SystemMessageBook } from './system-messages.js';

export { WEEKDAYS, type TimeWindow, type Weekday } from './calendar.js';
export type * from './policy-rules.js';

export interface Configuration {
  /** By slug, in the order of the slugs. Never empty. */
  tenants: ReadonlyMap<string, TenantConfiguration>;
}

export interface TenantConfiguration {
  /** The folder's name; lower case, digits and hyphens. */
  slug: string;
  /** SHA-256, hex, of the canonical JSON (RFC 8785) of all the rest. Runs and approvals keep it. */
  hash: string;
  business: Business;
  assistant: Assistant;
  /** By name; an account of a channel names its own. */
  profiles: Record<string, Profile>;
  models: Models;
  limits: Limits;
  detection: Detection;
  policy: Policy;
  scrubbing: Scrubbing;
  /** Disabled tools are listed too, so that a call of one can be told from a call of nothing. */
  tools: ToolDefinition[];
  /** Settings of every provider that a tool names. */
  providers: ProviderSettings;
  channels: Channels;
  /** Never empty. */
  owners: Owner[];
  operators: Operator[];
  forwarding: Forwarding;
  shift: Shift;
  /** By language code: every language of `assistant.languages`, and those that are only heard. */
  phrases: Record<string, PhraseBook>;
  /** By language: what the platform itself writes into chats, and what a message without words is called. Never empty. */
  systemMessages: Record<string, SystemMessageBook>;
}

export interface Business {
  name: string;
  description: string;
  /** IANA name, known to this runtime. */
  timeZone: string;
  /** What customers hear when their own language is not known; one of `assistant.languages`. */
  language: string;
  /** Sorted, not overlapping. An empty list: closed that day. */
  openingHours: Record<Weekday, TimeWindow[]>;
  /** Local dates `YYYY-MM-DD` on which it is closed whatever the weekday. */
  closedDates: string[];
}

export interface Assistant {
  roleId: string;
  /** System text of normal chat. Holds no tool words. */
  brief: string;
  languages: string[];
  /** Said once when a session opens, by language. Absent: nothing is said. */
  firstMessage?: Record<string, string> | undefined;
}

export interface ModelUse {
  name: string;
  maxTokens: number;
}

export interface Models {
  chat: ModelUse;
  planner: ModelUse;
  summarizer: ModelUse;
  /** Used until a judge decides per turn. */
  effort: TurnDecision['effort'];
}

export interface Limits {
  modelCallsPerChatAndDay: number;
  /** Tokens of history that normal chat and the planner may see. */
  historyTokens: number;
  /** Tools offered to the planner; at most 20. */
  maxCandidates: number;
  /** Steps of one run; at most 5. */
  maxSteps: number;
  /** How long a tool result can be referred to. */
  contextMinutes: number;
  /** How long an open question of ours waits for its answer. */
  questionMinutes: number;
  /** How long a stored turn decision may be continued. */
  decisionMinutes: number;
  /** After a success, how long the same request asks whether another one is meant. */
  repeatHours: number;
  resultBytes: number;
  argumentsBytes: number;
  /** A message that was written longer ago when it comes is kept, and not answered as if it were fresh. */
  staleAfterHours: number;
  /** Approvals of one chat that may wait at once; what is asked beyond is refused. */
  openApprovalsPerChat: number;
  approvalsPerChatAndHour: number;
}

/** Numbers of the lexical detector: BM25 over catalogue metadata, one weight per field. */
export interface Detection {
  /** A candidate scores at least this much; below it the message is normal chat. */
  threshold: number;
  k1: number;
  b: number;
  weights: {
    name: number;
    aliases: number;
    triggerPhrases: number;
    tags: number;
    description: number;
    whenToUse: number;
    examples: number;
    schema: number;
  };
  /** Worth of a word of everyday talk (`lists.everydayWords`); a word that names something is worth 1. */
  everydayInformation: number;
  /** Factor by what the sentence does. */
  forms: { request: number; question: number; statement: number };
  /** Exponent of the share of the sentence that speaks of the tool. */
  coverage: { request: number; other: number };
  /** Added when a whole trigger phrase or alias of several words stands in the message. */
  phraseBonus: number;
  /** Added when the sentence begins as requests for the tool do. */
  actionBonus: number;
  /** Added when the sentence holds a date, a time or a number, and the tool takes one. */
  valueBonus: number;
  /** Scores are divided by 1 plus this, per tenfold of the catalogue above a dozen tools. */
  cataloguePenalty: number;
  /** Tools with at least this share of the best score are candidates too. */
  candidateShare: number;
  /** Added to a tool that has a live context in this chat. */
  recentContextBonus: number;
}

/** What is removed from tool results before a model, a customer or a stored context sees it (spec A8). */
export interface Scrubbing {
  /** By the name that stands in the text instead. */
  tokens: Record<string, TokenRule>;
  /** Lower case words joined by `_`. */
  names: { endings: string[]; whole: string[]; weak: string[]; harmless: string[] };
  /** By issuer. */
  cards: Record<string, CardNumbers>;
  ibans: boolean;
}

export interface TokenRule {
  /** One of them stands in every match. */
  literals: string[];
  /** RE2; its first group, if it has one, is what is removed. */
  pattern: string;
  /** How far before its literal a match may begin, in characters. Absent: it begins there. */
  lookBack?: number | undefined;
  /** How many characters from the literal on decide. Absent: 128. */
  window?: number | undefined;
}

export interface CardNumbers {
  /** First digits: `4`, or from and to `51-55`. */
  ranges: string[];
  lengths: number[];
}

export interface Channels {
  /** The web chat and the headless API: one account of this business. */
  web: { accountKey: string; profile: string };
  whatsapp: WhatsappAccount[];
}

/** One number on the WhatsApp Cloud API. Secrets are names of files in the directory of secrets. */
export interface WhatsappAccount {
  /** The platform's phone number id. */
  accountKey: string;
  /** As people dial it, with its +. */
  displayNumber: string;
  profile: string;
  graphVersion: string;
  /** What the platform allows this number. */
  messagesPerSecond: number;
  accessToken: string;
  /** One, or two during a rotation. */
  appSecrets: string[];
  verifyToken: string;
  templates: {
    approvalRequest?: Template | undefined;
    lateAnswer?: Template | undefined;
    operatorRequest?: Template | undefined;
    ownerNotice?: Template | undefined;
  };
}

export interface Template {
  name: string;
  language: string;
}

/** A person with verified addresses: whoever writes from one of them is that person. Numbers begin with +. */
interface Person {
  id: string;
  name: string;
  addresses: { whatsapp: string[] };
}

export interface Owner extends Person {
  /** Groups of approvers that policy may name. */
  groups: string[];
}

/** Somebody who answers questions that the assistant forwards. */
export type Operator = Person;

export interface Forwarding {
  expiresAfterMinutes: number;
  remindAfterMinutes?: number | undefined;
}

/** When people are at the desk; the assistant is active outside these hours (spec B8). */
export interface Shift {
  enabled: boolean;
  /** `to` not after `from`: the window ends on the next day. No entry for a day: the assistant is active. */
  staffed: Partial<Record<Weekday, TimeWindow[]>>;
}
