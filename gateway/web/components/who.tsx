// Who somebody is, as far as it can be said: a name they gave themselves, the number or id that they write from.
import type { ChatLabel } from '../../../prisma/stores/views/chat-labels.js';
import { Visible } from './visible.js';

/** Ids of visitors and of platforms are told apart by their beginning; the whole is at hand. */
const SHORT = 8;

export function Who(props: {
  chat: ChatLabel | undefined;
  /** Shows the whole id: who decides has to know of whom. */
  isWhole?: boolean;
  /** What we call them, in place of what the channel tells; absent: that. */
  called?: string | undefined;
}): JSX.Element {
  const { chat, isWhole = false, called } = props;
  if (!chat) return <em class="quiet">unknown chat</em>;
  if (chat.address === undefined) return <em class="quiet">erased contact</em>;
  if (called !== undefined) {
    return (
      <span class="chat-name" title={chat.address}>
        <span class="own-name" safe>
          {called}
        </span>
      </span>
    );
  }
  return (
    <span class="chat-name" title={chat.address}>
      {chat.name === undefined ? null : (
        <>
          <span class="own-name">
            <Visible text={chat.name} />
          </span>{' '}
        </>
      )}
      <Address chat={chat} address={chat.address} isWhole={isWhole} />
    </span>
  );
}

function Address(props: { chat: ChatLabel; address: string; isWhole: boolean }): JSX.Element {
  const { chat, address, isWhole } = props;
  if (isNumber(chat))
    return <span class={['number', chat.name !== undefined && 'quiet']} safe>{`+${address}`}</span>;
  const what = kindOf(chat);
  const short = !isWhole && address.length > SHORT + 6 ? `${address.slice(0, SHORT)}…` : address;
  return (
    <span class={[chat.name !== undefined && 'quiet']}>
      <span>{what}</span> <code safe>{short}</code>
    </span>
  );
}

function kindOf({ kind, channel }: ChatLabel): 'Group' | 'Web visitor' | 'WhatsApp' {
  if (kind === 'group') return 'Group';
  return channel === 'web' ? 'Web visitor' : 'WhatsApp';
}

/** WhatsApp writes numbers as digits, with the country's first. */
function isNumber({ channel, kind, addressKind, address }: ChatLabel): boolean {
  const isPhone = addressKind === undefined || addressKind === 'phone';
  return channel !== 'web' && kind === 'direct' && isPhone && /^\d{6,15}$/.test(address ?? '');
}

/** The same in plain words, for titles. */
export function whoInWords(chat: ChatLabel): string {
  if (chat.address === undefined) return 'Erased contact';
  if (chat.name !== undefined) return chat.name;
  if (isNumber(chat)) return `+${chat.address}`;
  return `${kindOf(chat)} ${chat.address.slice(0, SHORT)}`;
}
