// Taking a chat over from the assistant, giving it back, and closing the matter: on the page of the chat.
import type { Conversation } from '../../../prisma/stores/views/conversations.js';
import { withQuery } from '../components/paging.js';

/** Hours that a chat may be taken for; the last is until it is given back. */
export const TAKE_HOURS = ['1', '4', '24', ''] as const;

const WORDS: Record<(typeof TAKE_HOURS)[number], string> = {
  '1': 'for 1 hour',
  '4': 'for 4 hours',
  '24': 'for a day',
  '': 'until I give it back',
};

export function DeskForm(props: {
  chat: Conversation;
  before: string | undefined;
  csrfToken: string;
}): JSX.Element {
  const { chat, csrfToken } = props;
  const to = chat.takeover ? 'assistant' : 'person';
  const action = withQuery(`/console/conversations/${chat.chatId}/desk`, { before: props.before });
  // Without a session, giving the chat back is all there is to close.
  const canClose = chat.session?.state === 'waiting' || chat.session?.state === 'active';
  // The id says what it is for: a refresh keeps what is being chosen, and not the form for what has been done.
  return (
    <form
      id={`${to}${canClose ? '-or-close' : ''}-${chat.chatId}`}
      class="desk-form"
      method="post"
      action={action}
      hx-post={action}
      hx-target="#conversation"
      hx-swap="outerHTML"
      hx-disabled-elt="find button"
      hx-preserve="true"
    >
      <input type="hidden" name="_csrf" value={csrfToken} />
      {chat.takeover ? (
        <span class="quiet">
          The assistant is silent in this chat.
          {chat.channel === 'web' ? ' Web chats can’t be answered from here yet.' : ''}
        </span>
      ) : (
        <select name="hours" aria-label="How long you have the chat">
          {TAKE_HOURS.map((hours) => (
            <option value={hours} safe>
              {WORDS[hours]}
            </option>
          ))}
        </select>
      )}
      <button type="submit" name="to" value={to} class="secondary outline" id={`desk-${chat.chatId}`}>
        {chat.takeover ? 'Give it back' : 'Take it over'}
      </button>
      {canClose ? (
        <button type="submit" name="to" value="nobody" class="secondary outline" id={`close-${chat.chatId}`}>
          The matter is done
        </button>
      ) : null}
    </form>
  );
}
