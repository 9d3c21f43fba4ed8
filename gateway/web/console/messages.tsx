// Messages that nobody has answered yet, with their age: the open side of the closed account (spec G1).
import type { MessageLine } from '../../../prisma/stores/views/messages.js';
import { Badge } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { TextOrErased } from '../components/visible.js';
import { ChatName, Empty } from './shell.js';

/** Ordinary work is over by then; an approval may take longer. */
const LATE_MS = 60_000;

export function MessagesList({ messages, clock }: { messages: MessageLine[]; clock: Clock }): JSX.Element {
  return (
    <div
      id="messages"
      hx-get="/console/messages/list"
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      {messages.length === 0 ? (
        <Empty icon="messages" title="Nothing waits">
          Every message has been answered, handed over or refused with a reason. One that is still open
          appears here, with its age.
        </Empty>
      ) : (
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
                  <TextOrErased text={message.text} />
                </td>
                <td data-label="From">
                  <ChatName chat={message.chat} />
                </td>
                <td data-label="Came">
                  <Time at={message.receivedAt} clock={clock} absolute />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Standing({ message, clock }: { message: MessageLine; clock: Clock }): JSX.Element {
  const isLate = clock.now.getTime() - message.receivedAt.getTime() > LATE_MS;
  const { run, turn } = message;
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
