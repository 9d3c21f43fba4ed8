// The wire format of the Cloud API's webhooks, as far as we read it. Loose on purpose: what we don't know is kept, and an
// optional part of another form than expected counts as absent, so that a new field of the platform's never costs a message.
// Field names are the platform's.
import { z } from 'zod';

/** Ids come as text, and in some events as numbers. */
const id = z.union([z.string().min(1), z.number().transform(String)]);
const optionalId = id.optional().catch(undefined);
const optionalText = z.string().optional().catch(undefined);
const optionalFlag = z.boolean().optional().catch(undefined);

const optional = <Shape extends z.ZodType>(shape: Shape) => shape.optional().catch(undefined);

const FIRST_PLAUSIBLE = Date.UTC(2009, 0);
const DAY_MS = 86_400_000;

/** Seconds since 1970, as text or number; a time that can't be is none. */
export const timestamp = z
  .union([z.string().regex(/^\d{1,12}$/), z.number().int()])
  .transform((seconds) => {
    const ms = Number(seconds) * 1000;
    return ms > FIRST_PLAUSIBLE && ms < Date.now() + DAY_MS ? new Date(ms) : undefined;
  })
  .optional()
  .catch(undefined);

export const webhookShape = z.looseObject({
  object: z.string(),
  entry: z.array(z.unknown()),
});

export const entryShape = z.looseObject({ id: optionalId, time: timestamp, changes: z.array(z.unknown()) });

export const changeShape = z.looseObject({ field: z.string(), value: z.looseObject({}) });

export const metadataShape = z.looseObject({ phone_number_id: optionalId, display_phone_number: optionalId });

export const contactShape = z.looseObject({
  wa_id: optionalId,
  user_id: optionalId,
  parent_user_id: optionalId,
  profile: optional(z.looseObject({ name: optionalText })),
});
export type WireContact = z.infer<typeof contactShape>;

const media = z.looseObject({
  id: optionalId,
  mime_type: optionalText,
  sha256: optionalText,
  caption: optionalText,
  filename: optionalText,
  voice: optionalFlag,
  animated: optionalFlag,
});
export type WireMedia = z.infer<typeof media>;

const replyRow = z.looseObject({ id: optionalId, title: optionalText });

/** What a message holds, by its type. */
const content = {
  type: z.string().default('unsupported').catch('unsupported'),
  text: optional(z.looseObject({ body: z.string() })),
  image: optional(media),
  video: optional(media),
  audio: optional(media),
  voice: optional(media),
  document: optional(media),
  sticker: optional(media),
  location: optional(z.looseObject({ name: optionalText, address: optionalText })),
  contacts: optional(
    z.array(z.looseObject({ name: optional(z.looseObject({ formatted_name: optionalText })) })),
  ),
  order: optional(
    z.looseObject({
      text: optionalText,
      product_items: optional(
        z.array(
          z.looseObject({
            product_retailer_id: optionalId,
            quantity: z.union([z.number(), z.string()]).optional().catch(undefined),
          }),
        ),
      ),
    }),
  ),
  button: optional(z.looseObject({ text: optionalText, payload: optionalText })),
  interactive: optional(
    z.looseObject({
      type: optionalText,
      button_reply: optional(replyRow),
      list_reply: optional(replyRow),
      nfm_reply: optional(z.looseObject({ response_json: optionalText, body: optionalText })),
    }),
  ),
  context: optional(
    z.looseObject({
      id: optionalId,
      from: optionalId,
      forwarded: optionalFlag,
      frequently_forwarded: optionalFlag,
    }),
  ),
};

const contentShape = z.looseObject(content);
export type WireContent = z.infer<typeof contentShape>;

export const messageShape = z.looseObject({
  ...content,
  id: z.string().min(1).max(500),
  timestamp,
  from: optionalId,
  from_user_id: optionalId,
  from_parent_user_id: optionalId,
  to: optionalId,
  to_user_id: optionalId,
  to_parent_user_id: optionalId,
  group_id: optionalId,
  reaction: optional(z.looseObject({ message_id: optionalId, emoji: optionalText })),
  edit: optional(z.looseObject({ original_message_id: optionalId, message: optional(contentShape) })),
  revoke: optional(z.looseObject({ original_message_id: optionalId })),
  system: optional(
    z.looseObject({
      type: optionalText,
      body: optionalText,
      wa_id: optionalId,
      /** The name of `wa_id` in older versions. */
      new_wa_id: optionalId,
      user_id: optionalId,
      parent_user_id: optionalId,
      previous_user_id: optionalId,
    }),
  ),
});
export type WireMessage = z.infer<typeof messageShape>;

const errors = optional(z.array(z.looseObject({ code: optionalId })));

export const statusShape = z.looseObject({
  id: z.string().min(1).max(500),
  status: z.enum(['sent', 'delivered', 'read', 'played', 'failed']),
  type: optionalText,
  timestamp,
  recipient_id: optionalId,
  recipient_user_id: optionalId,
  /** What we gave along when we sent it. */
  biz_opaque_callback_data: optionalText,
  errors,
});
export type WireStatus = z.infer<typeof statusShape>;

/** Anything that is told in the form of an event: only what it may be found by. */
export const eventShape = z.looseObject({
  event: optionalText,
  type: optionalText,
  id: optionalId,
  timestamp,
  code: optionalId,
  wa_id: optionalId,
  from: optionalId,
  user_id: optionalId,
  recipient_id: optionalId,
  errors,
});

const changed = optional(z.looseObject({ previous: optionalId, current: optionalId }));

/** A user id that was made anew. */
export const userIdUpdateShape = z.looseObject({
  wa_id: optionalId,
  user_id: changed,
  parent_user_id: changed,
  timestamp,
});
