// What comes in, in the words of every channel: who speaks, what kind of message it is, and what the arrival gates made of
// it (spec A1). A channel translates its wire format into these.
import type { JsonObject } from './tool.js';

/** By verified identity only, never by what a message says of itself. */
export type Speaker =
  | 'customer'
  | `owner:${string}`
  | `operator:${string}`
  /** Somebody wrote from the shop's own phone. */
  | 'business'
  /** Nobody: the platform tells us something in the form of a message. */
  | 'platform';

/**
 * `turn`, `owner_command` and `operator_reply` wait for a turn. All others are stored and settled with the message: their
 * name is the reason why nothing comes of it.
 */
export const ARRIVALS = [
  'turn',
  'owner_command',
  'operator_reply',
  /** Told by the platform: a call, a new number, encryption. */
  'system',
  /** A person wrote from the shop's own phone, and has the chat now. */
  'human',
  'blocked',
  /** In a group, and not to us. */
  'group_unaddressed',
  'edit',
  'revoke',
  'reaction',
  /** A kind that nobody can read here, or nothing to read in it. */
  'unsupported',
  /** So old when it came that an answer would be out of place. */
  'stale',
] as const;
export type Arrival = (typeof ARRIVALS)[number];

export const MESSAGE_KINDS = [
  'text',
  'image',
  'video',
  'audio',
  'voice',
  'document',
  'sticker',
  'location',
  'contacts',
  'order',
  /** A quick reply or a button that was pressed, and a row that was chosen from a list. */
  'button',
  'list',
  /** A form that was filled in inside the chat. */
  'form',
  'reaction',
  'edit',
  'revoke',
  'system',
  'unsupported',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** What a message holds beside its text; sealed in inbox.details_cipher. */
export type MessageDetails = {
  media?: MediaReference;
  /** Of a button or a row: the payload that we gave it. */
  payload?: string;
  /** Of a reaction. An empty one takes an earlier reaction back. */
  emoji?: string;
  /** Passed on from somewhere else: not the sender's own words. */
  isForwarded?: true;
  /** Name that the sender has given themselves. Says nothing about who they are. */
  profileName?: string;
  /** Who wrote it, in a group. */
  sender?: { address: string; kind: string };
  /** The texts that it had before it was edited, oldest first. */
  earlier?: { text: string; until: string }[];
  /** As it came: everything that the other fields leave out. */
  raw?: JsonObject;
};

/** Where the platform keeps a file; it does so for some days only. */
export type MediaReference = {
  id: string;
  mimeType?: string;
  /** As the platform gives it: base64 or hex. */
  sha256?: string;
  fileName?: string;
  isAnimated?: boolean;
};
