// The messages of a conversation: who said each of them, and what became of it.
import type { Conversation } from '../../../prisma/stores/views/conversations.js';
import type { TranscriptLine } from '../../../prisma/stores/views/transcript.js';
import { Badge, type Tone } from '../components/state.js';
import { absoluteTime, dayInWords, shortTime, type Clock } from '../components/time.js';
import { TextOrErased } from '../components/visible.js';
import {
  codeInWords,
  deliveryOf,
  kindInWords,
  messageState,
  originInWords,
  reasonInWords,
} from './message-words.js';
import type { People } from './people.js';

interface TalkProps {
  lines: TranscriptLine[];
  chat: Conversation;
  people: People;
  clock: Clock;
}

export function Talk({ lines, chat, people, clock }: TalkProps): JSX.Element {
  return (
    <ol class="talk" aria-label="Messages">
      {lines.map((line, index) => (
        <>
          <Day line={line} previous={lines[index - 1]} clock={clock} />
          <Line line={line} chat={chat} people={people} clock={clock} />
        </>
      ))}
    </ol>
  );
}

function Day(props: {
  line: TranscriptLine;
  previous: TranscriptLine | undefined;
  clock: Clock;
}): JSX.Element {
  const day = dayInWords(props.line.at, props.clock);
  if (props.previous && dayInWords(props.previous.at, props.clock) === day) return '';
  return (
    <li class="day">
      <span safe>{day}</span>
    </li>
  );
}

/** Whose side a message stands on, and in which colour. */
function sideOf(line: TranscriptLine): string {
  if (line.direction === 'out') return line.author === 'human' ? 'human' : 'assistant';
  switch (line.speaker) {
    case 'business':
      return 'human';
    case 'platform':
      return 'platform';
    case 'customer':
      return 'customer';
    default:
      return 'staff';
  }
}

function speakerOf(line: TranscriptLine, people: People): string {
  if (line.direction === 'out') {
    const what = originInWords(line.origin);
    const who = line.author === 'human' ? 'A person' : 'Assistant';
    return what === undefined ? who : `${who} (${what})`;
  }
  return people.called(line.speaker);
}

function Line(props: {
  line: TranscriptLine;
  chat: Conversation;
  people: People;
  clock: Clock;
}): JSX.Element {
  const { line, chat, people, clock } = props;
  const kind = line.direction === 'in' ? kindInWords(line.kind) : undefined;
  const isUnsaid = line.direction === 'out' && line.state !== 'sent';
  return (
    <li class={['talk-line', sideOf(line), isUnsaid && 'unsaid']} id={`message-${line.id}`}>
      <article>
        <header>
          <strong safe>{speakerOf(line, people)}</strong>
          {kind === undefined ? null : (
            <span class="tag" safe>
              {kind}
            </span>
          )}
        </header>
        <p dir="auto">
          {line.direction === 'in' && line.isRevoked ? (
            <em class="quiet">taken back by the sender</em>
          ) : (
            <TextOrErased text={line.text} />
          )}
        </p>
        <footer>
          <time
            datetime={line.at.toISOString()}
            title={`${absoluteTime(line.at, clock)} (${clock.timeZone})`}
            safe
          >
            {shortTime(line.at, { ...clock, now: line.at })}
          </time>
          <Standing line={line} chat={chat} />
          {line.runId === undefined ? null : <a href={`/console/runs/${line.runId}`}>Run</a>}
        </footer>
      </article>
    </li>
  );
}

/** Nobody waits for anything after these, and what they are stands above them. */
const SPEAKS_FOR_ITSELF = ['human', 'system', 'reaction', 'edit', 'revoke'];

function Standing({ line, chat }: { line: TranscriptLine; chat: Conversation }): JSX.Element {
  if (line.direction === 'in' && SPEAKS_FOR_ITSELF.includes(line.reason ?? '') && line.state === 'ignored')
    return '';
  const { tone, word, why } = standingOf(line, chat);
  return (
    <span class="standing">
      <Badge tone={tone} word={word} />
      {why === '' ? null : <span safe>{why}</span>}
    </span>
  );
}

function standingOf(line: TranscriptLine, chat: Conversation): { tone: Tone; word: string; why: string } {
  if (line.direction === 'in') {
    const why = [line.isEdited ? 'edited' : '', reasonInWords(line.reason)].filter(Boolean).join(', ');
    return { ...messageState(line.state), why };
  }
  const look = deliveryOf({
    ...line,
    isTaken: chat.takeover !== undefined,
    isByCommit: chat.channel === 'web',
  });
  return { ...look, why: line.code === undefined ? '' : codeInWords(line.code) };
}
