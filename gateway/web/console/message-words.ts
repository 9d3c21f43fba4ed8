// What became of messages, in words of the owner: states, reasons and codes are the machine's.
import type { Tone } from '../components/state.js';

/** The parts of the account of messages, each with an address of its own. */
export const MESSAGE_TABS = ['open', 'settled', 'all', 'undelivered'] as const;
export type MessageTab = (typeof MESSAGE_TABS)[number];

interface Look {
  tone: Tone;
  word: string;
}

const STATES: Record<string, Look> = {
  accepted: { tone: 'busy', word: 'Open' },
  answered: { tone: 'good', word: 'Answered' },
  handed_off: { tone: 'wait', word: 'Handed to a person' },
  refused: { tone: 'quiet', word: 'Refused' },
  merged: { tone: 'good', word: 'Answered with others' },
  ignored: { tone: 'quiet', word: 'No answer needed' },
  expired: { tone: 'quiet', word: 'Expired' },
};

/** What became of a message that came. */
export function messageState(state: string): Look {
  return STATES[state] ?? { tone: 'quiet', word: inPlainLetters(state) };
}

const REASONS: Record<string, string> = {
  system: 'told by the platform',
  human: 'a person has the chat',
  blocked: 'the sender is blocked',
  group_unaddressed: 'said in the group, not to us',
  edit: 'an edit of an earlier message',
  revoke: 'takes an earlier message back',
  revoked: 'the sender took it back',
  reaction: 'a reaction',
  unsupported: 'a kind that nobody can read here',
  stale: 'came too late to be answered as if it were fresh',
  unreadable: 'nobody can read it any more',
  paused: 'a person has the chat',
  takeover: 'a person has the chat',
  shift: 'the desk was staffed',
  private_account: 'about somebody’s account',
  transactional_support: 'about a payment, refund or order',
  model_cap: 'the day’s limit for this chat was reached',
  human_only: 'only people do this here',
  slash: 'commands are not for customers',
  current_date: 'answered from the calendar',
  confirmation: 'answers our question',
  open_question: 'answers our question',
  follow_up: 'about an earlier result',
  detector: '',
  assistant_unavailable: 'the assistant could not answer',
};

/** Why; empty where there is nothing more to say. */
export function reasonInWords(reason: string | undefined): string {
  if (reason === undefined) return '';
  const known = REASONS[reason];
  if (known !== undefined) return known;
  const undelivered = /^not delivered \((.+)\)$/.exec(reason)?.[1];
  if (undelivered !== undefined) return `our answer did not arrive: ${codeInWords(undelivered)}`;
  return /^[a-z_]+$/.test(reason) ? inPlainLetters(reason).toLowerCase() : reason;
}

const CODES: Record<string, string> = {
  window_closed: 'the 24-hour window was closed, and no template is set up for it',
  no_answer: 'the platform did not answer',
  no_address: 'nobody can read the address any more',
  interrupted: 'we were interrupted while it was on its way',
  late: 'the platform was too slow',
  failed: 'the platform said that it failed',
  empty: 'there was nothing to say',
  media_missing: 'the file could not be had',
  media_too_large: 'the file is too large',
  not_sent: 'a person found out that it did not arrive',
  part_failed: 'a part before it did not arrive',
  paused: 'a person had the chat',
  answered_already: 'it had been answered already',
  question_closed: 'the question was closed by then',
  session_over: 'the conversation was over by then',
};

/** Why something was not sent. Numbers are the platform's own. */
export function codeInWords(code: string): string {
  const known = CODES[code];
  if (known !== undefined) return known;
  return /^\d+$/.test(code) ? `the platform’s error ${code}` : inPlainLetters(code).toLowerCase();
}

/** Where a message of ours stands. `isTaken`: a person has the chat now, so what is planned waits for them. */
export function deliveryOf(send: {
  state: string;
  delivery: string | undefined;
  isTaken: boolean;
  isByCommit: boolean;
}): Look {
  const { state, delivery } = send;
  switch (state) {
    case 'planned':
      return send.isTaken
        ? { tone: 'wait', word: 'Held until the chat comes back' }
        : { tone: 'busy', word: 'To be sent' };
    case 'sending':
      return { tone: 'busy', word: 'Sending' };
    case 'sent':
      return REPORTED[delivery ?? ''] ?? { tone: 'good', word: send.isByCommit ? 'Delivered' : 'Sent' };
    case 'failed':
      return { tone: 'bad', word: 'Not delivered' };
    case 'unknown':
      return { tone: 'bad', word: 'May not have arrived' };
    default:
      return { tone: 'quiet', word: 'Not said' };
  }
}

const REPORTED: Record<string, Look> = {
  delivered: { tone: 'good', word: 'Delivered' },
  read: { tone: 'good', word: 'Read' },
  played: { tone: 'good', word: 'Played' },
};

const KINDS: Record<string, string> = {
  image: 'Photo',
  video: 'Video',
  audio: 'Audio',
  voice: 'Voice note',
  document: 'Document',
  sticker: 'Sticker',
  location: 'Location',
  contacts: 'Contact',
  order: 'Order',
  button: 'Button pressed',
  list: 'Chosen from a list',
  form: 'Form',
  reaction: 'Reaction',
  edit: 'Edit',
  revoke: 'Taken back',
  system: 'Notice',
  unsupported: 'Unreadable here',
};

/** What stands before the words of a message that isn't only text. */
export function kindInWords(kind: string): string | undefined {
  return KINDS[kind];
}

const ORIGINS: Record<string, string> = {
  approval_notice: 'asks an owner',
  approval_reminder: 'reminds an owner',
  approval_expired: 'tells an owner that it expired',
  hand_off_notice: 'tells an owner of a customer',
  unknown_notice: 'asks an owner what became of it',
  undelivered_notice: 'tells an owner what did not arrive',
  operator_request: 'asks an operator',
  operator_reminder: 'reminds an operator',
  operator_too_late: 'tells an operator that it is too late',
  operator_answer: 'passes on an operator’s answer',
  operator_nobody: 'says that no operator answered',
  first_message: 'greeting',
};

/** What a message of ours is, where that isn't plain from the chat. */
export function originInWords(origin: string): string | undefined {
  return ORIGINS[origin];
}

function inPlainLetters(code: string): string {
  const words = code.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
