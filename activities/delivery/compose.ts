// How an outgoing message is said on WhatsApp: in how many parts, and each as which kind of message. Pure: rows, media and
// windows are looked at by whoever calls.
import type {
  OutboxKind,
  OutgoingDetails,
  OutgoingTemplate,
  MessagePurpose,
} from '../../workflows/domain/message.js';
import type { WhatsappAccount } from '../../config/configuration.js';
import { clip } from '../whatsapp-cloud/clip.js';
import { toWhatsApp } from '../whatsapp-cloud/format.js';
import type { MediaKind } from '../whatsapp-cloud/media-limits.js';
import { splitTail, splitText } from '../whatsapp-cloud/split.js';
import { LIMITS, type GraphMessage } from '../whatsapp-cloud/wire.js';

/** More parts than this are no chat any more: the text goes as a document. */
const MOST_PARTS = 4;

export interface Part {
  text: string;
  details: OutgoingDetails;
}

/**
 * The parts of a message. One: it is said as it is. Several: each is verbatim text within the limits, and what can't be cut
 * (buttons, a list) goes with the last, media with the first.
 */
export function partsOf({ text, details }: Part, media?: { kind: MediaKind }): Part[] {
  if (details.reaction) return [{ text, details }];
  const body = details.isVerbatim ? text.trim() : toWhatsApp(text);
  if (media) {
    const isCaption = canHaveCaption(media.kind) && body.length <= LIMITS.caption;
    if (isCaption || body === '') return [{ text, details }];
    const { mediaMessageId, ...rest } = details;
    const first = { text: '', details: { ...(mediaMessageId && { mediaMessageId }), isVerbatim: true } };
    return [first, ...partsOf({ text: body, details: { ...rest, isVerbatim: true } })];
  }
  const bodyLimit = details.buttons ? LIMITS.buttonsBody : details.list ? LIMITS.listBody : undefined;
  if (bodyLimit !== undefined) {
    if (body.length <= bodyLimit) return [{ text, details }];
    const [head, tail] = splitTail(body, bodyLimit);
    return [...textParts(head), { text: tail.trim(), details: { ...details, isVerbatim: true } }];
  }
  if (body.length <= LIMITS.text) return [{ text, details }];
  return textParts(body);
}

/** Few enough: each a part. Too many: one part, which `messageOf` makes a document of. */
function textParts(body: string): Part[] {
  const parts = splitText(body, LIMITS.text)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const texts = parts.length > MOST_PARTS ? [body] : parts;
  return texts.map((text) => ({ text, details: { isVerbatim: true } }));
}

function canHaveCaption(kind: MediaKind): boolean {
  return kind === 'image' || kind === 'video' || kind === 'document';
}

export type Composed =
  | { kind: 'message'; message: GraphMessage; said: string | undefined }
  /** The text itself has to be uploaded first. */
  | { kind: 'document'; text: string; caption: string }
  | { kind: 'impossible'; code: string };

/** One part as a message of the platform. `uploaded`: what of it lies on the platform already. */
export function messageOf(
  { text, details }: Part,
  uploaded?: { kind: MediaKind; mediaId: string; filename: string },
): Composed {
  if (details.reaction) {
    const { externalId, emoji } = details.reaction;
    return { kind: 'message', message: { type: 'reaction', externalId, emoji }, said: undefined };
  }
  const body = details.isVerbatim ? text.trim() : toWhatsApp(text);
  if (uploaded) {
    const caption = canHaveCaption(uploaded.kind) ? clip(body, LIMITS.caption) : '';
    return { kind: 'message', message: { type: 'media', ...uploaded, caption }, said: caption };
  }
  if (body === '') return { kind: 'impossible', code: 'empty' };
  if (body.length > LIMITS.text) return { kind: 'document', text: body, caption: clip(body, LIMITS.caption) };
  if (details.buttons) {
    return { kind: 'message', message: { type: 'buttons', body, buttons: details.buttons }, said: body };
  }
  if (details.list) {
    return { kind: 'message', message: { type: 'list', body, ...details.list }, said: body };
  }
  return { kind: 'message', message: { type: 'text', body }, said: body };
}

/**
 * What is said in place of free text where the platform takes none: the message's own template, else the account's for its
 * purpose. Undefined: there is none, and it can't be said.
 */
export function templateFor(
  { text, details }: Part,
  kind: OutboxKind,
  { templates }: Pick<WhatsappAccount, 'templates'>,
): OutgoingTemplate | undefined {
  if (details.template) return details.template;
  // An acknowledgement of what is late already would only be in the way.
  const purpose: MessagePurpose | undefined =
    details.purpose ?? (kind === 'acknowledgement' ? undefined : 'lateAnswer');
  const template = purpose && templates[purpose];
  return template && { ...template, parameters: [details.isVerbatim ? text : toWhatsApp(text)] };
}
