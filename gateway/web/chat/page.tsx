// The customer's page: a conversation with the business.
import type { ChatMessage } from '../../../prisma/stores/views/chat.js';
import { MAX_TEXT_LENGTH } from '../../message-text.js';
import { Document } from '../components/document.js';
import { Icon } from '../components/icons.js';
import { dayInWords, type Clock } from '../components/time.js';
import { Bubble, BubbleTemplate, DaySeparator } from './bubble.js';

export interface ChatPageProps {
  business: { name: string; description: string };
  modelLabel: string | undefined;
  messages: ChatMessage[];
  /** Where the stream goes on from. */
  cursor: string;
  examples: string[];
  clock: Clock;
  /** Where this chat lives: messages are posted below it, and events come from below it. */
  base: string;
  /** An owner's own chat, beside the console. Absent: a customer's. */
  owner?: { name: string; csrfToken: string } | undefined;
}

export function ChatPage(props: ChatPageProps): JSX.Element {
  const { business, messages, owner } = props;
  return (
    <Document title={business.name} layout="chat" scripts={['chat.js']}>
      <header class="chat-header">
        {owner ? (
          <a href="/console/approvals" class="chat-back" aria-label="Back to the console">
            <Icon name="back" />
          </a>
        ) : null}
        <span class="avatar" aria-hidden="true" safe>
          {initialOf(business.name)}
        </span>
        <div class="chat-title">
          <h1 safe>{business.name}</h1>
          <p class="quiet" id="connection" role="status">
            {owner ? <span safe>{`You write as ${owner.name}`}</span> : 'Answers right away'}
          </p>
        </div>
        {props.modelLabel ? (
          <span class="model-label" title="The answers come from a stand-in, not from a real model." safe>
            {props.modelLabel}
          </span>
        ) : null}
      </header>
      <main class="chat-main" id="scroller">
        <div
          id="log"
          class="log"
          role="log"
          aria-live="polite"
          aria-label="Conversation"
          data-cursor={props.cursor}
          data-base={props.base}
          data-csrf={owner?.csrfToken}
          tabindex="0"
        >
          {messages.length === 0 ? (
            <Welcome business={business} examples={props.examples} owner={owner} />
          ) : null}
          <History messages={messages} clock={props.clock} />
        </div>
        <div id="progress" class="bubble theirs progress" role="status" hidden>
          <span class="dots" aria-hidden="true">
            <i></i>
            <i></i>
            <i></i>
          </span>
          <span id="progress-text"></span>
        </div>
      </main>
      <button type="button" id="to-end" class="to-end" hidden aria-label="Go to the newest message">
        <Icon name="down" />
      </button>
      <form id="composer" class="composer" autocomplete="off">
        <label for="text" class="for-screen-readers">
          Your message
        </label>
        <textarea
          id="text"
          name="text"
          rows="1"
          maxlength={MAX_TEXT_LENGTH}
          placeholder="Write a message"
          enterkeyhint="send"
          required
        ></textarea>
        <button type="submit" aria-label="Send" disabled>
          <Icon name="send" />
        </button>
      </form>
      <BubbleTemplate />
    </Document>
  );
}

function Welcome(props: Pick<ChatPageProps, 'business' | 'examples' | 'owner'>): JSX.Element {
  const { owner } = props;
  return (
    <section id="welcome" class="welcome">
      <span class="avatar large" aria-hidden="true" safe>
        {initialOf(props.business.name)}
      </span>
      <h2>
        <span safe>{owner ? `Hello ${owner.name}` : `Hello from ${props.business.name}`}</span>
      </h2>
      <p class="quiet" safe>
        {owner
          ? 'Here you write to the assistant as yourself: decide on requests, see what waits, take chats and give them back, by words. Requests are sent here too.'
          : props.business.description}
      </p>
      {props.examples.length > 0 ? (
        <>
          <h3>{owner ? 'What can I say?' : 'What can I ask?'}</h3>
          <ul class="chips">
            {props.examples.map((example) => (
              <li>
                <button type="button" data-example={example}>
                  <span safe>{example}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  );
}

function History({ messages, clock }: { messages: ChatMessage[]; clock: Clock }): JSX.Element {
  let day: string | undefined;
  return (
    <>
      {messages.map((message) => {
        const next = dayInWords(message.at, clock);
        const isNew = next !== day;
        day = next;
        return (
          <>
            {isNew ? <DaySeparator day={next} /> : null}
            <Bubble message={message} clock={clock} />
          </>
        );
      })}
    </>
  );
}

function initialOf(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? '·';
}
