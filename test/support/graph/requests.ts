// What the platform accepts as a message: forms and limits of the Cloud API. A request that it would refuse is refused here
// too, with the same code, so that a test can't pass with a message that nobody would ever get.
import { z } from 'zod';
import { refusal, type GraphRefusal } from './errors.js';

const text = (most: number) => z.string().min(1).max(most);
const reply = z.object({ id: text(256), title: text(20) });

const buttons = z.object({
  type: z.literal('button'),
  body: z.object({ text: text(1024) }),
  action: z.object({
    buttons: z
      .array(z.object({ type: z.literal('reply'), reply }))
      .min(1)
      .max(3)
      .refine((all) => new Set(all.map((one) => one.reply.id)).size === all.length, 'ids are not unique'),
  }),
});

const row = z.object({ id: text(200), title: text(24), description: text(72).optional() });
const list = z.object({
  type: z.literal('list'),
  body: z.object({ text: text(4096) }),
  action: z.object({
    button: text(20),
    sections: z
      .array(z.object({ title: text(24).optional(), rows: z.array(row).min(1) }))
      .min(1)
      .max(10)
      .refine((all) => all.flatMap(({ rows }) => rows).length <= 10, 'more than ten rows'),
  }),
});

const file = z.object({
  id: text(100).optional(),
  link: z.string().min(1).optional(),
  caption: z.string().max(1024).optional(),
  filename: text(240).optional(),
});
const withoutCaption = file.omit({ caption: true }).strict();

const template = z.object({
  name: text(512),
  language: z.object({ code: text(30) }),
  components: z
    .array(
      z.object({
        type: z.enum(['header', 'body', 'button']),
        parameters: z.array(z.looseObject({ type: z.string() })).default([]),
      }),
    )
    .default([]),
});

const shared = {
  messaging_product: z.literal('whatsapp'),
  recipient_type: z.enum(['individual', 'group']).default('individual'),
  to: z.coerce.string().min(1).optional(),
  recipient: z.string().min(1).optional(),
  context: z.object({ message_id: z.string().min(1) }).optional(),
  biz_opaque_callback_data: z.string().max(512).optional(),
};

const content = [
  z.object({ ...shared, type: z.literal('text').default('text'), text: z.object({ body: text(4096) }) }),
  z.object({
    ...shared,
    type: z.literal('reaction'),
    reaction: z.object({ message_id: z.string().min(1), emoji: z.string() }),
  }),
  z.object({ ...shared, type: z.literal('interactive'), interactive: z.union([buttons, list]) }),
  z.object({ ...shared, type: z.literal('template'), template }),
  z.object({ ...shared, type: z.literal('image'), image: file }),
  z.object({ ...shared, type: z.literal('video'), video: file }),
  z.object({ ...shared, type: z.literal('document'), document: file }),
  z.object({ ...shared, type: z.literal('audio'), audio: withoutCaption }),
  z.object({ ...shared, type: z.literal('sticker'), sticker: withoutCaption }),
  z.object({
    ...shared,
    type: z.literal('location'),
    location: z.object({ latitude: z.coerce.number(), longitude: z.coerce.number() }),
  }),
  z.object({ ...shared, type: z.literal('contacts'), contacts: z.array(z.looseObject({})).min(1) }),
] as const;

export const messageRequest = z.union(content).refine(({ to, recipient }) => to ?? recipient, 'no recipient');
export type MessageRequest = z.infer<typeof messageRequest>;

export const readRequest = z.object({
  messaging_product: z.literal('whatsapp'),
  status: z.literal('read'),
  message_id: z.string(),
  typing_indicator: z.object({ type: z.literal('text') }).optional(),
});

/** A template as it was approved: how many values its body takes. */
export interface ApprovedTemplate {
  name: string;
  language: string;
  parameters: number;
}

export function templateRefusal(
  { template: asked }: { template: z.infer<typeof template> },
  approved: readonly ApprovedTemplate[] | undefined,
): GraphRefusal | undefined {
  if (!approved) return undefined;
  const known = approved.find(
    ({ name, language }) => name === asked.name && language === asked.language.code,
  );
  if (!known) return refusal(132001, `template name (${asked.name}) does not exist`);
  const body = asked.components.find(({ type }) => type === 'body');
  const given = body?.parameters ?? [];
  if (given.length !== known.parameters) {
    return refusal(132000, `body: number of localizable_params (${given.length}) does not match`);
  }
  const values = given.map((parameter) => String(parameter['text'] ?? ''));
  if (values.some((value) => value === '' || /[\n\t]| {5}/.test(value))) {
    return refusal(100, 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces');
  }
  return undefined;
}

/** To whom, as it was asked. */
export function recipientOf({ to, recipient }: MessageRequest): string {
  return to ?? recipient ?? '';
}
