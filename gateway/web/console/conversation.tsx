// One conversation: who has it, until when we may write, whom we asked, and everything that was said or was to be said.
import type { Conversation } from '../../../prisma/stores/views/conversations.js';
import type { OperatorQuestion } from '../../../prisma/stores/views/operator-questions.js';
import type { Transcript } from '../../../prisma/stores/views/transcript.js';
import { Fact } from '../components/fact.js';
import { Paging, withQuery } from '../components/paging.js';
import { Badge } from '../components/state.js';
import { shortTime, Time, type Clock } from '../components/time.js';
import { Who } from '../components/who.js';
import { channelInWords } from './conversations.js';
import { DeskForm } from './desk-form.js';
import type { People } from './people.js';
import { Questions } from './questions.js';
import { Empty } from './shell.js';
import { Talk } from './talk.js';

interface ConversationProps {
  chat: Conversation;
  transcript: Transcript;
  questions: OperatorQuestion[];
  before: number | undefined;
  people: People;
  csrfToken: string;
  clock: Clock;
}

export function ConversationPart(props: ConversationProps): JSX.Element {
  const { chat, transcript, questions, before, people, csrfToken, clock } = props;
  const address = `/console/conversations/${chat.chatId}`;
  const own = before === undefined ? undefined : String(before);
  return (
    <div
      id="conversation"
      tabindex="-1"
      class="story"
      hx-get={withQuery(`${address}/talk`, { before: own })}
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      <Head chat={chat} people={people} clock={clock} />
      <DeskForm chat={chat} before={own} csrfToken={csrfToken} />
      {questions.length > 0 ? (
        <section class="chapter" aria-labelledby="questions">
          <h2 id="questions">Passed on to operators</h2>
          <Questions questions={questions} people={people} clock={clock} />
        </section>
      ) : null}
      <Paging
        older={
          transcript.older === undefined
            ? undefined
            : withQuery(address, { before: String(transcript.older) })
        }
        olderWord="Older messages"
      />
      {transcript.lines.length === 0 ? (
        <Empty icon="chats" title="Nothing to read here">
          Nobody has said anything in this chat yet, or it was deleted after the time for which messages are
          kept.
        </Empty>
      ) : (
        <Talk lines={transcript.lines} chat={chat} people={people} clock={clock} />
      )}
      <Paging newest={before === undefined ? undefined : `${address}#newest`} newestWord="Newest messages" />
      <div id="newest"></div>
    </div>
  );
}

function Head({ chat, people, clock }: Pick<ConversationProps, 'chat' | 'people' | 'clock'>): JSX.Element {
  return (
    <dl class="facts summary of-chat">
      <Fact name="With">
        <Who chat={chat} called={people.ownChat(chat)} />
      </Fact>
      <Fact name="Channel">
        <span safe>{channelInWords(chat.channel)}</span>
      </Fact>
      <Fact name="Who has it">
        <Holder chat={chat} people={people} clock={clock} />
      </Fact>
      {chat.window.closesAt || !chat.window.isOpen ? (
        <Fact name="24-hour window">
          <Window chat={chat} clock={clock} />
        </Fact>
      ) : null}
      <Fact name="Session">
        <Session chat={chat} clock={clock} />
      </Fact>
      <Fact name="Open messages">
        <span>{chat.open}</span>
      </Fact>
    </dl>
  );
}

function Holder({ chat, people, clock }: Pick<ConversationProps, 'chat' | 'people' | 'clock'>): JSX.Element {
  const { takeover } = chat;
  if (chat.isBlocked) return <Badge tone="quiet" word="Nobody: blocked" />;
  if (!takeover) return <Badge tone="good" word="The assistant" />;
  return (
    <>
      <Badge tone="wait" word={people.called(takeover.by)} />
      <span class="quiet below">
        since <Time at={takeover.since} clock={clock} />
        {takeover.until ? (
          <span safe>{`, until ${shortTime(takeover.until, clock)}`}</span>
        ) : (
          ', until it is given back'
        )}
      </span>
    </>
  );
}

const ENDED: Record<string, string> = {
  human: 'a person answered',
  ai_timeout: 'the assistant had no answer',
  timeout: 'nobody has written for long',
  manual: 'closed by hand',
};

function Session({ chat, clock }: Pick<ConversationProps, 'chat' | 'clock'>): JSX.Element {
  const { session } = chat;
  switch (session?.state) {
    case 'waiting':
      return <Badge tone="wait" word={`Waits for the desk until ${shortTime(session.graceUntil, clock)}`} />;
    case 'active':
      return <Badge tone="busy" word="Under way" />;
    case 'resolved':
      return (
        <>
          <Badge tone="quiet" word="Over" />
          <span class="quiet below">
            <span safe>{`${ENDED[session.by] ?? session.by}, `}</span>
            <Time at={session.at} clock={clock} />
          </span>
        </>
      );
    case undefined:
      return <span class="quiet">none</span>;
  }
}

function Window({ chat, clock }: Pick<ConversationProps, 'chat' | 'clock'>): JSX.Element {
  const { closesAt, isOpen } = chat.window;
  return (
    <>
      <Badge tone={isOpen ? 'good' : 'bad'} word={isOpen ? 'Open' : 'Closed: templates only'} />
      {closesAt ? (
        <span class="quiet below">
          {isOpen ? 'closes ' : 'closed '}
          <Time at={closesAt} clock={clock} />
        </span>
      ) : null}
    </>
  );
}
