// What an owner's message is, whatever the channel, and what comes back.
import type { Approver } from '../../workflows/domain/approval.js';
import type { Bell } from '../../workflows/domain/turn.js';
import type { Tenant } from '../tenants.js';
import type { DeskVerb } from './parse-command.js';

export interface OwnerMessage {
  /** By verified identity (`inbox.speaker`), never by what the message says. */
  ownerId: string;
  /** Where it was written. */
  chat: { chatId: string; channel: string; kind: 'direct' | 'group' };
  text: string;
  /** By the platform's clock, in whole seconds there; a phone that was offline delivers late. */
  writtenAt: Date;
  /** The platform's id of the message that it quotes; of a button or reaction, the one that it belongs to. */
  quotedExternalId?: string | undefined;
  /** What a pressed button sends back. */
  button?: string | undefined;
  /** Of a reaction; an empty one takes an earlier reaction back. */
  emoji?: string | undefined;
  /** Passed on from somewhere else: not the owner's own words. */
  isForwarded?: boolean | undefined;
}

export interface OwnerReply {
  text: string;
  /** Who else has to hear of what was stored; rung after the commit. */
  bells: Bell[];
  /** False: it is no command; the text is the help. */
  isUnderstood: boolean;
}

/** A command about a chat or the desk, as it was read. */
export interface DeskCommand {
  verb: DeskVerb;
  ref?: string;
  /** What stands after the word of command. */
  rest: string;
}

/** Carries commands about the desk out. Undefined: it understands no such command. */
export type DeskCommands = (
  command: DeskCommand,
  message: OwnerMessage,
) => Promise<{ text: string; bells: Bell[] } | undefined>;

export type Words = Pick<Tenant, 'configuration'>;

export function approverOf({ ownerId, chat }: OwnerMessage): Approver {
  return { surface: chat.channel === 'web' ? 'web' : 'whatsapp', id: ownerId };
}

export function reply(text: string, ...bells: Bell[]): OwnerReply {
  return { text, bells, isUnderstood: true };
}
