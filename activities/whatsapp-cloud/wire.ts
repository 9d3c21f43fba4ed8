// The platform's wire format for what we send: bodies of `POST /{version}/{number}/messages`, and its answers. Nothing here
// knows of rows or turns. Limits are the platform's; what is longer is clipped, because a button that reads "Approve thi…"
// beats an approval that nobody gets.
import { z } from 'zod';
import type { ListRow, OutgoingTemplate, ReplyButton } from '../../workflows/domain/message.js';
import { clip } from './clip.js';
import type { MediaKind } from './media-limits.js';

export const LIMITS = {
  text: 4_000,
  buttonsBody: 1_024,
  listBody: 4_000,
  caption: 1_024,
  buttonTitle: 20,
  listButton: 20,
  sectionTitle: 24,
  rowTitle: 24,
  rowDescription: 72,
  /** Of all values of a template together. */
  templateValues: 900,
} as const;

export type GraphMessage =
  | { type: 'text'; body: string }
  | { type: 'reaction'; externalId: string; emoji: string }
  | { type: 'buttons'; body: string; buttons: ReplyButton[] }
  | { type: 'list'; body: string; button: string; sections: { title?: string; rows: ListRow[] }[] }
  | { type: 'template'; template: OutgoingTemplate }
  | { type: 'media'; kind: MediaKind; mediaId: string; caption?: string; filename?: string };

export interface Addressed {
  /** As the platform gave it to us; never rebuilt from digits. */
  recipient: string;
  /** Numbers and user ids go in different fields. */
  recipientKind: 'phone' | 'user' | 'group';
  /** The message that this one quotes, by the platform's id. */
  replyTo?: string | undefined;
  /** Comes back with every status: the id of our outbox row. */
  callbackData: string;
}

/** The body of a send. */
export function messageBody(message: GraphMessage, to: Addressed): Record<string, unknown> {
  return {
    messaging_product: 'whatsapp',
    recipient_type: to.recipientKind === 'group' ? 'group' : 'individual',
    ...(to.recipientKind === 'user' ? { recipient: to.recipient } : { to: to.recipient }),
    ...(to.replyTo !== undefined && { context: { message_id: to.replyTo } }),
    biz_opaque_callback_data: to.callbackData,
    ...contentOf(message),
  };
}

function contentOf(message: GraphMessage): Record<string, unknown> {
  switch (message.type) {
    case 'text':
      return { type: 'text', text: { body: message.body, preview_url: false } };
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: message.externalId, emoji: message.emoji } };
    case 'buttons':
      return { type: 'interactive', interactive: buttonsOf(message) };
    case 'list':
      return { type: 'interactive', interactive: listOf(message) };
    case 'template':
      return { type: 'template', template: templateOf(message.template) };
    case 'media': {
      const { kind, mediaId, caption, filename } = message;
      const file = {
        id: mediaId,
        ...(caption && { caption }),
        ...(kind === 'document' && filename !== undefined && { filename }),
      };
      return { type: kind, [kind]: file };
    }
  }
}

function buttonsOf({ body, buttons }: { body: string; buttons: ReplyButton[] }): Record<string, unknown> {
  return {
    type: 'button',
    body: { text: body },
    action: {
      buttons: buttons.map(({ id, title }) => ({
        type: 'reply',
        reply: { id, title: clip(title, LIMITS.buttonTitle) },
      })),
    },
  };
}

function listOf(list: Extract<GraphMessage, { type: 'list' }>): Record<string, unknown> {
  return {
    type: 'list',
    body: { text: list.body },
    action: {
      button: clip(list.button, LIMITS.listButton),
      sections: list.sections.map(({ title, rows }) => ({
        ...(title !== undefined && { title: clip(title, LIMITS.sectionTitle) }),
        rows: rows.map((row) => ({
          id: row.id,
          title: clip(row.title, LIMITS.rowTitle),
          ...(row.description !== undefined && { description: clip(row.description, LIMITS.rowDescription) }),
        })),
      })),
    },
  };
}

function templateOf({ name, language, parameters, buttonPayloads = [] }: OutgoingTemplate) {
  const body = templateValues(parameters).map((text) => ({ type: 'text', text }));
  return {
    name,
    language: { code: language },
    components: [
      ...(body.length > 0 ? [{ type: 'body', parameters: body }] : []),
      ...buttonPayloads.map((payload, index) => ({
        type: 'button',
        sub_type: 'quick_reply',
        index: String(index),
        parameters: [{ type: 'payload', payload }],
      })),
    ],
  };
}

/** The template can't hold all that was to be said. */
export function isCut({ parameters }: Pick<OutgoingTemplate, 'parameters'>): boolean {
  const values = templateValues(parameters);
  return parameters.some((value, index) => oneLine(value) !== values[index]);
}

function oneLine(value: string): string {
  return value.replace(/\s+/g, ' ').trim() || '-';
}

/** Values of a template are one line each, never empty, and share a limit: the short ones leave their rest to the long. */
export function templateValues(parameters: readonly string[]): string[] {
  const lines = parameters.map(oneLine);
  const byLength = lines
    .map((line, index) => ({ line, index }))
    .sort((a, b) => a.line.length - b.line.length);
  const values = [...lines];
  let left: number = LIMITS.templateValues;
  for (const [place, { line, index }] of byLength.entries()) {
    const value = clip(line, Math.floor(left / (byLength.length - place)));
    values[index] = value;
    left -= value.length;
  }
  return values;
}

/** The answer to a send that was taken. Loose: the platform adds fields. */
export const sendAnswer = z.looseObject({
  messages: z.array(z.looseObject({ id: z.string().min(1) })).min(1),
});

export const errorAnswer = z.looseObject({
  error: z.looseObject({ code: z.number(), is_transient: z.boolean().optional() }),
});

export const uploadAnswer = z.looseObject({ id: z.string().min(1) });

export const mediaAnswer = z.looseObject({
  url: z.url({ protocol: /^https?$/ }),
  mime_type: z.string().optional(),
  sha256: z.string().optional(),
  file_size: z.coerce.number().optional(),
});
