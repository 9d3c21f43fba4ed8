// Questions to operators: who was asked, by which REF they answer, until when.
import type { OperatorQuestion } from '../../../prisma/stores/views/operator-questions.js';
import { Badge, type Tone } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { Who } from '../components/who.js';
import type { People } from './people.js';

const STATES: Record<OperatorQuestion['state'], [Tone, string]> = {
  open: ['wait', 'Waiting for an answer'],
  overdue: ['quiet', 'Nobody answered in time'],
  answered: ['good', 'Answered'],
  expired: ['quiet', 'Nobody answered in time'],
  undeliverable: ['bad', 'Could not be asked'],
  cancelled: ['quiet', 'Withdrawn'],
};

export function Questions(props: {
  questions: OperatorQuestion[];
  people: People;
  clock: Clock;
  isWithChat?: boolean;
}): JSX.Element {
  const { people, clock } = props;
  return (
    <ul class="questions">
      {props.questions.map((question) => {
        const [tone, word] = STATES[question.state];
        return (
          <li id={`question-${question.requestId}`}>
            <code class="ref" title="The operator answers by this REF." safe>
              {question.ref}
            </code>
            <span class="question-what">
              <strong safe>{people.operator(question.operatorId)}</strong>{' '}
              <span class="quiet">
                {question.kind === 'media' ? 'was sent a file, ' : 'was sent the conversation, '}
                <Time at={question.askedAt} clock={clock} />
              </span>
              {props.isWithChat ? (
                <>
                  {' · '}
                  <a href={`/console/conversations/${question.chatId}#newest`}>
                    <Who chat={question.chat} />
                  </a>
                </>
              ) : null}
              {question.runId === undefined ? null : (
                <>
                  {' · '}
                  <a href={`/console/runs/${question.runId}`}>Run</a>
                </>
              )}
            </span>
            <span class="question-state">
              <Badge tone={tone} word={word} />
              <span class="quiet">
                {question.state === 'open' ? 'ends ' : null}
                <Time at={question.closedAt ?? question.expiresAt} clock={clock} absolute />
              </span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}
