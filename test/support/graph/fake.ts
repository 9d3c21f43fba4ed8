// What a fake Graph server is to the tests: its options, and what they can ask of it.
import type { Faults } from './faults.js';
import type { ApprovedTemplate, MessageRequest } from './requests.js';
import type { StatusPlan, TakenMessage, WebhookTarget, Webhooks } from './webhooks.js';

export interface FakeNumber {
  accountKey: string;
  displayNumber: string;
}

export interface FakeGraphOptions {
  numbers: FakeNumber[];
  /** The only token that is good. Absent: any. */
  token?: string | undefined;
  /** Absent: every template counts as approved. */
  templates?: ApprovedTemplate[];
  webhook?: WebhookTarget;
  /** What is reported of each message that was taken. Absent: nothing. */
  statuses?: StatusPlan | undefined;
  /** Free text only within 24 hours of the customer's last message, as far as this server has sent it. */
  keepsWindow?: boolean;
  /** Refuses what comes faster than the platform allows: to one person, and from one number in a second. */
  limits?: { pairBurst?: number; perSecond?: number };
}

/** A message that the platform has taken, whether or not the sender has heard of it. */
export interface TakenSend extends TakenMessage {
  request: MessageRequest;
  at: number;
}

export interface FakeMedia {
  id: string;
  content: Uint8Array;
  mimeType: string;
  /** What is said of it, where that is wrong on purpose. */
  saidSha256?: string;
  saidUrl?: string;
  saidBytes?: number;
}

export interface FakeGraph {
  url: string;
  faults: Faults;
  webhooks: Webhooks;
  /** In the order in which they were taken. */
  taken(): TakenSend[];
  /** Every request for a message, also those that were refused or cut. */
  attempts(): number;
  reads(): { messageId: string; isTyping: boolean }[];
  /** What is reported from now on. */
  report(plan: StatusPlan | undefined): void;
  /** A customer writes to a number; opens their window. */
  customerWrites(message: {
    from: string;
    body: string;
    accountKey?: string;
    quoted?: string;
  }): Promise<{ wamid: string; status: number }>;
  addMedia(media: Omit<FakeMedia, 'id'>): string;
  media(id: string): FakeMedia | undefined;
  forget(): void;
  close(): Promise<void>;
}
