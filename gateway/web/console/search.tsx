// What was found: chats, requests, runs and messages, each with its way there.
import type { Children } from '@kitajs/html';
import type { Found } from '../../../prisma/stores/views/search.js';
import { titleOf } from '../components/arguments.js';
import { State } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { TextOrErased } from '../components/visible.js';
import { Who } from '../components/who.js';
import { channelInWords } from './conversations.js';
import { linkToMessage } from './links.js';
import type { People } from './people.js';
import { Questions } from './questions.js';
import { withoutStep } from './runs.js';
import { Empty } from './shell.js';

export function Results(props: {
  text: string;
  /** Absent: nothing was asked for. */
  found: Found | undefined;
  recent: number;
  people: People;
  clock: Clock;
}): JSX.Element {
  const { text, found, recent, people, clock } = props;
  return (
    <div id="results">
      <form action="/console/search" class="search-form" aria-label="Search">
        <input
          type="search"
          name="q"
          value={text}
          aria-label="Name, number, REF or id"
          maxlength={200}
          autocomplete="off"
          autofocus={text === ''}
        />
        <button type="submit">Search</button>
      </form>
      {found === undefined ? (
        <Hints />
      ) : countOf(found) === 0 ? (
        <Empty icon="search" title="Nothing found">
          <span safe>{`Nothing here has “${text}” as its number, REF or id. `}</span>
          <span
            safe
          >{`Names, and parts of numbers, are looked for in the ${recent} chats that moved last.`}</span>
        </Empty>
      ) : (
        <>
          <Group title="Chats" of={found.chats}>
            {found.chats.map((chat) => (
              <li>
                <a href={`/console/conversations/${chat.chatId}#newest`}>
                  <Who chat={chat} called={people.ownChat(chat)} />
                </a>
                <span class="tag quiet" safe>
                  {people.at(chat.address) ?? channelInWords(chat.channel)}
                </span>
              </li>
            ))}
          </Group>
          <Group title="Approvals" of={found.approvals}>
            {found.approvals.map((approval) => (
              <li>
                <a href={`/console/runs/${approval.runId}`}>
                  <code safe>{approval.ref}</code> <strong safe>{titleOf(approval.tool)}</strong>
                </a>
                <span class="end">
                  <State of="approval" state={approval.state} />
                  <Time at={approval.askedAt} clock={clock} absolute />
                </span>
              </li>
            ))}
          </Group>
          {found.questions.length > 0 ? (
            <section class="chapter">
              <h2>Questions to operators</h2>
              <Questions questions={found.questions} people={people} clock={clock} isWithChat />
            </section>
          ) : null}
          <Group title="Runs" of={found.runs}>
            {found.runs.map((run) => (
              <li>
                <a href={`/console/runs/${run.runId}`}>
                  <strong safe>{run.tools.map(titleOf).join(', then ') || withoutStep(run)}</strong>
                </a>
                <span class="end">
                  <State of="run" state={run.isUnknown ? 'unknown' : run.state} />
                  <Time at={run.startedAt} clock={clock} absolute />
                </span>
              </li>
            ))}
          </Group>
          <Group title="Messages" of={found.messages}>
            {found.messages.map((message) => (
              <li>
                <a href={linkToMessage({ ...message, id: message.messageId })}>
                  <TextOrErased text={message.text} />
                </a>
                <span class="end quiet">
                  {message.direction === 'in' ? 'from ' : 'to '}
                  <Who chat={message.with} called={message.with && people.ownChat(message.with)} />
                  <Time at={message.at} clock={clock} />
                </span>
              </li>
            ))}
          </Group>
        </>
      )}
    </div>
  );
}

function countOf({ chats, approvals, questions, runs, messages }: Found): number {
  return chats.length + approvals.length + questions.length + runs.length + messages.length;
}

function Group(props: { title: string; of: readonly unknown[]; children: Children }): JSX.Element {
  if (props.of.length === 0) return '';
  return (
    <section class="chapter">
      <h2 safe>{props.title}</h2>
      <ul class="hits">{props.children}</ul>
    </section>
  );
}

function Hints(): JSX.Element {
  return (
    <Empty icon="search" title="Find a chat, a run, a message">
      A customer’s number or name, a REF such as <code>K-7Q2M</code>, the id of a run or a message, or a
      workflow id out of Temporal. Runs of a certain state or time are on the page{' '}
      <a href="/console/runs">Runs</a>.
    </Empty>
  );
}
