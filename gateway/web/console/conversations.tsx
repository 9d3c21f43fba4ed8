// Chats, the one that moved last first: with whom, who has each of them now, and what nobody has settled yet.
import type { ConversationFilter, ConversationLine } from '../../../prisma/stores/views/conversations.js';
import type { OperatorQuestion } from '../../../prisma/stores/views/operator-questions.js';
import { Paging, withQuery } from '../components/paging.js';
import { Badge } from '../components/state.js';
import { shortTime, Time, type Clock } from '../components/time.js';
import { Visible } from '../components/visible.js';
import { Who } from '../components/who.js';
import { kindInWords } from './message-words.js';
import type { People } from './people.js';
import { Questions } from './questions.js';
import { Empty } from './shell.js';

interface ListProps {
  chats: ConversationLine[];
  questions: OperatorQuestion[];
  filter: ConversationFilter;
  /** Of this page, as it was asked for; absent: the newest. */
  before: string | undefined;
  older: string | undefined;
  people: People;
  clock: Clock;
}

export function ConversationsList(props: ListProps): JSX.Element {
  const { chats, questions, filter, before, older, people, clock } = props;
  const show = filter === 'all' ? undefined : filter;
  return (
    <div
      id="conversations"
      hx-get={withQuery('/console/conversations/list', { show, before })}
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      {questions.length > 0 && before === undefined ? (
        <section class="chapter" aria-labelledby="asked">
          <h2 id="asked">Operators are being asked</h2>
          <Questions questions={questions} people={people} clock={clock} isWithChat />
        </section>
      ) : null}
      {chats.length === 0 ? (
        <Nothing filter={filter} />
      ) : (
        <ul class="chats">
          {chats.map((chat) => (
            <Line chat={chat} people={people} clock={clock} />
          ))}
        </ul>
      )}
      <Paging
        older={older === undefined ? undefined : withQuery('/console/conversations', { show, before: older })}
        newest={before === undefined ? undefined : withQuery('/console/conversations', { show })}
      />
    </div>
  );
}

function Line({
  chat,
  people,
  clock,
}: {
  chat: ConversationLine;
  people: People;
  clock: Clock;
}): JSX.Element {
  const person = people.at(chat.address);
  return (
    <li>
      <a href={`/console/conversations/${chat.chatId}#newest`} id={`chat-${chat.chatId}`}>
        <span class="chat-who">
          <Who chat={chat} called={people.ownChat(chat)} />
          {person === undefined ? null : (
            <span class="tag" safe>
              {person}
            </span>
          )}
        </span>
        <span class="chat-when">{chat.last ? <Time at={chat.last.at} clock={clock} /> : null}</span>
        <span class="chat-last">
          <Last chat={chat} people={people} />
        </span>
        <span class="badges">
          {chat.open > 0 ? <Badge tone="busy" word={`${chat.open} open`} /> : null}
          {chat.unknown > 0 ? <Badge tone="bad" word={`${chat.unknown} may not have arrived`} /> : null}
          <WhoHasIt chat={chat} people={people} clock={clock} />
          <span class="tag quiet" safe>
            {channelInWords(chat.channel)}
          </span>
        </span>
      </a>
    </li>
  );
}

function Last({ chat, people }: { chat: ConversationLine; people: People }): JSX.Element {
  if (!chat.last) return <span class="quiet">Nothing was said yet</span>;
  const { from, kind, text } = chat.last;
  const name = kindInWords(kind);
  return (
    <>
      {from === 'customer' ? null : (
        <span class="quiet" safe>
          {`${people.called(from)}: `}
        </span>
      )}
      {name === undefined ? null : <span class="quiet" safe>{`${name}: `}</span>}
      {text === undefined ? <em class="quiet">erased</em> : <Visible text={text.slice(0, 160)} />}
    </>
  );
}

export function channelInWords(channel: string): string {
  return channel === 'web' ? 'Web chat' : channel.startsWith('whatsapp') ? 'WhatsApp' : channel;
}

/** A person, an operator who is being asked, a desk that may still answer, or the assistant. */
function WhoHasIt({
  chat,
  people,
  clock,
}: {
  chat: ConversationLine;
  people: People;
  clock: Clock;
}): JSX.Element {
  const { takeover, askedUntil, session } = chat;
  return (
    <>
      {takeover ? (
        <Badge
          tone="wait"
          word={`With ${people.nameOf(takeover.by)}${takeover.until ? ` until ${shortTime(takeover.until, clock)}` : ''}`}
        />
      ) : null}
      {askedUntil ? (
        <Badge tone="wait" word={`Operator asked, until ${shortTime(askedUntil, clock)}`} />
      ) : null}
      {!takeover && session?.state === 'waiting' ? (
        <Badge tone="quiet" word={`Waits for the desk until ${shortTime(session.graceUntil, clock)}`} />
      ) : null}
      {!takeover && session?.state === 'active' ? <Badge tone="good" word="Assistant answers" /> : null}
    </>
  );
}

function Nothing({ filter }: { filter: ConversationFilter }): JSX.Element {
  switch (filter) {
    case 'taken':
      return (
        <Empty icon="person" title="The assistant has every chat">
          A chat that a person has taken over appears here, with who has it and until when.
        </Empty>
      );
    case 'asked':
      return (
        <Empty icon="person" title="No operator is being asked">
          A chat whose question was passed on to an operator appears here until they have answered.
        </Empty>
      );
    case 'open':
      return (
        <Empty icon="check" title="Nothing is open">
          Every message has been answered, handed over or refused with a reason.
        </Empty>
      );
    case 'all':
      return (
        <Empty icon="chats" title="Nobody has written yet">
          Each customer’s chat appears here with the last words that were said. Try it: write something in the{' '}
          <a href="/" target="_blank">
            chat
          </a>
          .
        </Empty>
      );
  }
}
