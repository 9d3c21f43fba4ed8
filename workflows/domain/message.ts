// What becomes of an accepted message (spec G1): exactly one terminal state, with a reason.

export const MESSAGE_STATES = [
  'accepted',
  'answered',
  'handed_off',
  'refused',
  'merged',
  'ignored',
  'expired',
] as const;

/** `accepted` is the only state that is still open. */
export type MessageState = (typeof MESSAGE_STATES)[number];

/** Where an outgoing message stands. `unknown` stays open until a status, the page or a person settles it. */
export const OUTBOX_STATES = ['planned', 'sending', 'sent', 'failed', 'unknown', 'discarded'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** What an outgoing message means to the turn it belongs to; all but the acknowledgement close it. */
export type SayKind = 'acknowledgement' | 'question' | 'answer' | 'refusal';

/** What an outgoing message is to the outbox; a hand-off closes its turn as one. */
export type OutboxKind = SayKind | 'handOff';

/** The terminal message state that a delivered say of this kind brings. */
export function messageStateAfter(kind: SayKind): MessageState | undefined {
  switch (kind) {
    case 'acknowledgement':
      return undefined;
    case 'question':
    case 'answer':
      return 'answered';
    case 'refusal':
      return 'refused';
  }
}

/** What an outgoing message holds beside its text. A channel that can't show it says the text alone. */
export interface OutgoingDetails {
  /** Up to three; `id` comes back when one is pressed. */
  buttons?: ReplyButton[];
  /** Up to ten rows. */
  list?: { button: string; sections: { title?: string; rows: ListRow[] }[] };
  /** An approved template, said in place of the text where the platform forbids free text (the 24-hour window). */
  template?: OutgoingTemplate;
  /** Which of the account's templates stands in for the text, where `template` names none. */
  purpose?: MessagePurpose;
  /** The inbox message whose media is sent; the text is its caption. */
  mediaMessageId?: string;
  /** Reacts instead of saying anything. `externalId` is the platform's id of the message; an empty emoji takes it back. */
  reaction?: { externalId: string; emoji: string };
  /** The text is said as it stands; absent: it is Markdown, and is put into the channel's own marks. */
  isVerbatim?: boolean;
}

export interface ReplyButton {
  id: string;
  title: string;
}

export interface ListRow extends ReplyButton {
  description?: string;
}

export interface OutgoingTemplate {
  name: string;
  language: string;
  /** Values of the body, in order. */
  parameters: string[];
  /** Payloads of its quick-reply buttons, in order. Absent: the platform sends back the button's title. */
  buttonPayloads?: string[];
}

/** Names of templates in configuration (`channels.whatsapp[].templates`). */
export const MESSAGE_PURPOSES = ['approvalRequest', 'lateAnswer', 'operatorRequest', 'ownerNotice'] as const;
export type MessagePurpose = (typeof MESSAGE_PURPOSES)[number];

const MOST_BUTTONS = 3;
const MOST_ROWS = 10;

/** Says what no channel could show, or nothing. Texts that are too long are no problem: they are clipped. */
export function detailsProblem({ buttons = [], list }: OutgoingDetails): string | undefined {
  const rows = list?.sections.flatMap((section) => section.rows) ?? [];
  if (buttons.length > MOST_BUTTONS) return `at most ${MOST_BUTTONS} buttons fit under a message`;
  if (list && (rows.length === 0 || rows.length > MOST_ROWS)) return `a list has 1 to ${MOST_ROWS} rows`;
  const choices = [...buttons, ...rows];
  if (choices.some(({ id, title }) => id === '' || title === '')) return 'each choice has an id and a title';
  if (new Set(choices.map(({ id }) => id)).size < choices.length) return 'two choices have the same id';
  return undefined;
}
