// Messages of ours that did not arrive, or of which nobody knows: those an owner can settle, because they can ask or look.
import type { UndeliveredLine } from '../../../prisma/stores/views/undelivered.js';
import { Icon } from '../components/icons.js';
import { withQuery } from '../components/paging.js';
import { Badge } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { TextOrErased } from '../components/visible.js';
import { Who } from '../components/who.js';
import { linkToMessage } from './links.js';
import { codeInWords, type MessageTab } from './message-words.js';

interface UndeliveredProps {
  lines: UndeliveredLine[];
  /** The tab that they stand on, which is shown again after an answer. */
  show: MessageTab;
  csrfToken: string;
  clock: Clock;
}

export function Undelivered({ lines, show, csrfToken, clock }: UndeliveredProps): JSX.Element {
  if (lines.length === 0) return '';
  const isUnknown = lines.some(({ state }) => state === 'unknown');
  return (
    <section class="undelivered" aria-label="Messages of ours that may not have arrived">
      {isUnknown ? (
        <p class="banner bad" role="alert">
          <Icon name="alert" />
          <span>
            <strong>Nobody knows whether these messages arrived.</strong> They are not sent again by
            themselves. Look on the phone, or ask; then say what you found.
          </span>
        </p>
      ) : null}
      <div class="cards">
        {lines.map((line) => (
          <Card line={line} show={show} csrfToken={csrfToken} clock={clock} />
        ))}
      </div>
    </section>
  );
}

function Card({
  line,
  show,
  csrfToken,
  clock,
}: Omit<UndeliveredProps, 'lines'> & { line: UndeliveredLine }): JSX.Element {
  return (
    <article class={['card', 'send', line.state]} id={`send-${line.outboxId}`}>
      <header>
        <div class="standing">
          {line.state === 'unknown' ? (
            <Badge tone="bad" word="May not have arrived" />
          ) : (
            <Badge tone="bad" word="Not delivered" />
          )}
          {line.code === undefined ? null : (
            <span class="quiet" safe>
              {codeInWords(line.code)}
            </span>
          )}
        </div>
        <Time at={line.attemptedAt ?? line.plannedAt} clock={clock} absolute />
      </header>
      <blockquote class="said">
        <TextOrErased text={line.text} />
      </blockquote>
      <footer class="send-end">
        <span class="quiet">
          to{' '}
          <a href={linkToMessage({ chatId: line.chatId, id: line.outboxId, sequence: undefined })}>
            <Who chat={line.with} />
          </a>
        </span>
        {line.state === 'unknown' ? (
          <span class="settle">
            <Answer line={line} show={show} csrfToken={csrfToken} arrived="yes" word="It was delivered" />
            <Answer line={line} show={show} csrfToken={csrfToken} arrived="no" word="It was not" />
          </span>
        ) : null}
      </footer>
    </article>
  );
}

function Answer(props: {
  line: UndeliveredLine;
  show: MessageTab;
  csrfToken: string;
  arrived: 'yes' | 'no';
  word: string;
}): JSX.Element {
  const { line, arrived } = props;
  const action = withQuery(`/console/sends/${line.outboxId}`, { show: props.show });
  return (
    <form
      method="post"
      action={action}
      hx-post={action}
      hx-target="#messages"
      hx-swap="outerHTML"
      hx-disabled-elt="find button"
    >
      <input type="hidden" name="_csrf" value={props.csrfToken} />
      <input type="hidden" name="arrived" value={arrived} />
      <button
        type="submit"
        id={`settle-${arrived}-${line.outboxId}`}
        class={arrived === 'no' ? ['secondary', 'outline'] : ['approve']}
        safe
      >
        {props.word}
      </button>
    </form>
  );
}
