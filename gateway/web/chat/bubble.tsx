// One message of the chat page: the same markup for the page, the stream and the script's own first picture of it.
import type { ChatMessage } from '../../../prisma/stores/views/chat.js';
import { absoluteTime, dayInWords, shortTime, type Clock } from '../components/time.js';

export function Bubble({ message, clock }: { message: ChatMessage; clock: Clock }): JSX.Element {
  const { from, answers } = message;
  const isOwn = from === 'customer';
  return (
    <article
      class={['bubble', isOwn ? 'own' : 'theirs']}
      data-id={message.id}
      data-sequence={String(message.sequence)}
      data-day={dayInWords(message.at, clock)}
    >
      <span class="speaker">{isOwn ? 'You' : from === 'human' ? 'A person of the team' : 'Assistant'}</span>
      {answers?.isAside ? (
        <blockquote>
          <span class="speaker">answers</span>
          <span safe>{answers.text ?? '(erased)'}</span>
        </blockquote>
      ) : null}
      <p dir="auto" safe>
        {message.text ?? '(erased)'}
      </p>
      <footer>
        {from === 'human' ? <span class="human">from a person</span> : null}
        <time datetime={message.at.toISOString()} title={absoluteTime(message.at, clock)} safe>
          {shortTime(message.at, { ...clock, now: message.at })}
        </time>
        {isOwn ? <span class="delivery">✓ delivered</span> : null}
      </footer>
    </article>
  );
}

/** What the script copies while a message is on its way. */
export function BubbleTemplate(): JSX.Element {
  return (
    <template id="bubble">
      <article class="bubble own" data-state="sending">
        <span class="speaker">You</span>
        <p dir="auto"></p>
        <footer>
          <span class="delivery">sending…</span>
        </footer>
      </article>
    </template>
  );
}

export function DaySeparator({ day }: { day: string }): JSX.Element {
  return (
    <div class="day" data-separator={day}>
      <span safe>{day}</span>
    </div>
  );
}
