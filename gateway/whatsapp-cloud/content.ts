// What a person would read of a message, by its type, and what of it is kept beside the words.
import type { Labels } from '../../config/system-messages.js';
import { isJsonObject } from '../../prisma/json.js';
import type { MediaReference, MessageDetails, MessageKind } from '../../workflows/domain/incoming.js';
import { isVisible } from '../message-text.js';
import type { WireContent, WireMedia, WireMessage } from './wire.js';

export interface Content {
  kind: MessageKind;
  text: string;
  /** There is something in it that a person could read, hear or press. */
  isReadable: boolean;
  details: MessageDetails;
  /** The message that it is about. */
  about?: string | undefined;
  /** Told by the platform in the form of a message. */
  isSystem?: boolean;
}

export function contentOf(message: WireMessage, labels: Labels): Content {
  const { context } = message;
  const content = changeOf(message, labels) ?? wordsOf(message, labels);
  const isForwarded = context?.forwarded === true || context?.frequently_forwarded === true;
  return {
    ...content,
    about: content.about ?? context?.id,
    details: { ...content.details, ...(isForwarded && { isForwarded }) },
  };
}

/** Messages about other messages, and of the platform. */
function changeOf(message: WireMessage, labels: Labels): Content | undefined {
  const { type, reaction, edit, revoke, system } = message;
  switch (type) {
    case 'reaction': {
      const emoji = reaction?.emoji ?? '';
      const about = reaction?.message_id;
      const isReadable = isVisible(emoji);
      return {
        kind: 'reaction',
        text: isReadable ? emoji : labels.reactionRemoved,
        isReadable,
        details: { emoji },
        about,
      };
    }
    case 'edit': {
      const words = edit?.message ? wordsOf(edit.message, labels) : undefined;
      return {
        kind: 'edit',
        text: words?.text ?? labels.edited,
        isReadable: true,
        details: words?.details ?? {},
        about: edit?.original_message_id,
      };
    }
    case 'revoke':
      return {
        kind: 'revoke',
        text: labels.revoked,
        isReadable: true,
        details: {},
        about: revoke?.original_message_id,
      };
    case 'system':
      return readable('system', textOr(system?.body, labels.identityChanged));
    // The chat was opened for the first time, and nothing said.
    case 'request_welcome':
      return { ...readable('system', labels.empty), isSystem: true };
    default:
      return undefined;
  }
}

/** What somebody says, shows or presses. */
function wordsOf(content: WireContent, labels: Labels): Content {
  switch (content.type) {
    case 'text':
      return spoken('text', content.text?.body, labels);
    case 'image':
    case 'video':
    case 'sticker':
      return mediaOf(content.type, content[content.type], labels[content.type]);
    case 'audio':
    case 'voice': {
      const kind = content.type === 'voice' || content.audio?.voice === true ? 'voice' : 'audio';
      return mediaOf(kind, content.audio ?? content.voice, labels[kind]);
    }
    case 'document': {
      const { document } = content;
      return mediaOf('document', document, joined(labels.document, document?.filename));
    }
    case 'location': {
      const { name, address } = content.location ?? {};
      return readable('location', joined(labels.location, listed([name, address])));
    }
    case 'contacts': {
      const names = (content.contacts ?? []).map((contact) => contact.name?.formatted_name);
      return readable('contacts', joined(labels.contacts, listed(names)));
    }
    case 'order': {
      const { text, product_items: items = [] } = content.order ?? {};
      const counted = items.map(({ quantity = 1, product_retailer_id: id = '?' }) => `${quantity} × ${id}`);
      return readable('order', joined(labels.order, listed([text, ...counted])));
    }
    case 'button': {
      const { text, payload } = content.button ?? {};
      return pressed('button', text, payload, labels);
    }
    case 'interactive':
      return interactive(content.interactive, labels);
    default:
      return unsupported(labels);
  }
}

function interactive(reply: WireContent['interactive'], labels: Labels): Content {
  const { button_reply: button, list_reply: row, nfm_reply: form } = reply ?? {};
  if (button) return pressed('button', button.title, button.id, labels);
  if (row) return pressed('list', row.title, row.id, labels);
  if (form) return readable('form', joined(labels.form, formInWords(form.response_json) || form.body));
  // The answer to a request to call: about calls, not a word of the chat.
  if (reply?.type === 'call_permission_reply') return { ...readable('system', labels.call), isSystem: true };
  return unsupported(labels);
}

/** What was filled in, without the token that only names the form. */
function formInWords(json: string | undefined): string {
  if (json === undefined) return '';
  try {
    const answers: unknown = JSON.parse(json);
    if (!isJsonObject(answers)) return '';
    return Object.entries(answers)
      .filter(([name]) => name !== 'flow_token')
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', ');
  } catch {
    return '';
  }
}

function pressed(
  kind: 'button' | 'list',
  title: string | undefined,
  payload: string | undefined,
  labels: Labels,
): Content {
  const content = spoken(kind, title ?? payload, labels);
  return { ...content, details: { ...(payload !== undefined && { payload }) } };
}

function mediaOf(kind: MessageKind, media: WireMedia | undefined, label: string): Content {
  const reference = media && referenceOf(media);
  return {
    ...readable(kind, textOr(media?.caption, label)),
    details: { ...(reference && { media: reference }) },
  };
}

function referenceOf(media: WireMedia): MediaReference | undefined {
  const { id, mime_type: mimeType, sha256, filename: fileName, animated } = media;
  if (id === undefined) return undefined;
  return {
    id,
    ...(mimeType !== undefined && { mimeType }),
    ...(sha256 !== undefined && { sha256 }),
    ...(fileName !== undefined && { fileName }),
    ...(animated === true && { isAnimated: animated }),
  };
}

function spoken(kind: MessageKind, text: string | undefined, labels: Labels): Content {
  if (text !== undefined && isVisible(text)) return readable(kind, text);
  return { kind, text: labels.empty, isReadable: false, details: {} };
}

function readable(kind: MessageKind, text: string): Content {
  return { kind, text, isReadable: true, details: {} };
}

function unsupported(labels: Labels): Content {
  return { kind: 'unsupported', text: labels.unsupported, isReadable: false, details: {} };
}

function textOr(text: string | undefined, label: string): string {
  return text !== undefined && isVisible(text) ? text : label;
}

function joined(label: string, words: string | undefined): string {
  return words !== undefined && isVisible(words) ? `${label} ${words}` : label;
}

function listed(parts: readonly (string | undefined)[]): string {
  return parts.filter((part): part is string => part !== undefined && isVisible(part)).join(', ');
}
