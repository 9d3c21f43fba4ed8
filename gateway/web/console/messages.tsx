// The closed account of messages (spec G1): what is open, with its age; what became of the rest, and why.
import type { MessageLine } from '../../../prisma/stores/views/messages.js';
import type { UndeliveredLine } from '../../../prisma/stores/views/undelivered.js';
import { Paging, withQuery } from '../components/paging.js';
import { Badge } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { TextOrErased } from '../components/visible.js';
import { Who } from '../components/who.js';
import { linkToMessage } from './links.js';
import { kindInWords, messageState, reasonInWords, type MessageTab } from './message-words.js';
import type { People } from './people.js';
import { Empty } from './shell.js';
import { Undelivered } from './undelivered.js';

/** Ordinary work is over by then; an approval may take longer. */
const LATE_MS = 60_000;

interface ListProps {
  show: MessageTab;
  before: string | undefined;
  messages: MessageLine[];
  older: string | undefined;
  undelivered: UndeliveredLine[];
  people: People;
  csrfToken: string;
  clock: Clock;
}

export function MessagesList(props: ListProps): JSX.Element {
  const { show, before, messages, older, undelivered, csrfToken, clock } = props;
  const tab = show === 'open' ? undefined : show;
  return (
    <div
      id="messages"
      tabindex="-1"
      hx-get={withQuery('/console/messages/list', { show: tab, before })}
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      <Undelivered lines={undelivered} show={show} csrfToken={csrfToken} clock={clock} />
      {messages.length > 0 ? <Table {...props} /> : undelivered.length > 0 ? null : <Nothing show={show} />}
      <Paging
        older={older === undefined ? undefined : withQuery('/console/messages', { show: tab, before: older })}
        olderWord={show === 'open' ? 'More' : 'Older'}
        newest={before === undefined ? undefined : withQuery('/console/messages', { show: tab })}
        newestWord={show === 'open' ? 'From the start' : 'Newest'}
      />
    </div>
  );
}

function Table({ messages, people, clock }: ListProps): JSX.Element {
  return (
    <table class="cards-on-phone">
      <thead>
        <tr>
          <th scope="col">Where it stands</th>
          <th scope="col">Message</th>
          <th scope="col">From</th>
          <th scope="col">Came</th>
        </tr>
      </thead>
      <tbody>
        {messages.map((message) => (
          <tr>
            <td data-label="Where it stands">
              <Standing message={message} clock={clock} />
            </td>
            <td data-label="Message" class="text">
              <Words message={message} />
            </td>
            <td data-label="From">
              <Sender message={message} people={people} />
            </td>
            <td data-label="Came">
              <Time at={message.receivedAt} clock={clock} absolute />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Words({ message }: { message: MessageLine }): JSX.Element {
  const kind = kindInWords(message.kind);
  return (
    <a
      href={linkToMessage({ ...message, id: message.messageId })}
      class="words"
      id={`line-${message.messageId}`}
    >
      {kind === undefined ? null : (
        <span class="tag" safe>
          {kind}
        </span>
      )}{' '}
      <TextOrErased text={message.text} />
    </a>
  );
}

function Sender({ message, people }: { message: MessageLine; people: People }): JSX.Element {
  if (message.speaker === 'customer') return <Who chat={message.with} />;
  const isTheirOwn = people.at(message.with?.address) === people.nameOf(message.speaker);
  return (
    <span>
      <span safe>{people.called(message.speaker)}</span>{' '}
      {isTheirOwn ? null : (
        <span class="quiet">
          in the chat of <Who chat={message.with} called={message.with && people.ownChat(message.with)} />
        </span>
      )}
    </span>
  );
}

function Standing({ message, clock }: { message: MessageLine; clock: Clock }): JSX.Element {
  const { run, turn, state } = message;
  if (state !== 'accepted') {
    const { tone, word } = messageState(state);
    const why = reasonInWords(message.reason);
    return (
      <span class="standing">
        <Badge tone={tone} word={word} />
        {why === '' ? null : (
          <span class="quiet" safe>
            {why}
          </span>
        )}
        {run ? <a href={`/console/runs/${run.runId}`}>Run</a> : null}
      </span>
    );
  }
  const isLate = clock.now.getTime() - message.receivedAt.getTime() > LATE_MS;
  if (run) {
    return (
      <a href={`/console/runs/${run.runId}`}>
        {run.state === 'waiting' ? (
          <Badge tone="wait" word="Waiting for you" />
        ) : (
          <Badge tone={isLate ? 'bad' : 'busy'} word={isLate ? 'Run is late' : 'A run has it'} />
        )}
      </a>
    );
  }
  if (turn)
    return <Badge tone={isLate ? 'bad' : 'busy'} word={isLate ? 'Answer is late' : 'Being answered'} />;
  return <Badge tone={isLate ? 'bad' : 'busy'} word={isLate ? 'Not taken up' : 'Just came'} />;
}

function Nothing({ show }: { show: MessageTab }): JSX.Element {
  switch (show) {
    case 'open':
      return (
        <Empty icon="messages" title="Nothing waits">
          Every message has been answered, handed over or refused with a reason. One that is still open
          appears here, with its age.
        </Empty>
      );
    case 'undelivered':
      return (
        <Empty icon="check" title="Everything arrived">
          A message of ours that did not arrive, or of which nobody knows, appears here with the reason.
        </Empty>
      );
    case 'settled':
    case 'all':
      return (
        <Empty icon="messages" title="No message yet">
          What customers write appears here, with what became of it and why.
        </Empty>
      );
  }
}
