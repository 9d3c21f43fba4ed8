// One run as a story: what was asked, what was planned and allowed, who said yes, what happened, what was said.
import type { Children } from '@kitajs/html';
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { RunStory, StepView } from '../../../prisma/stores/views/run-story.js';
import { Arguments, titleOf } from '../components/arguments.js';
import { Fact } from '../components/fact.js';
import { Badge, State } from '../components/state.js';
import { Duration, Time, type Clock } from '../components/time.js';
import { TextOrErased, Visible } from '../components/visible.js';
import { Who } from '../components/who.js';
import { ApprovalCard } from './approvals.js';
import { auditInWords } from './audit-words.js';
import { linkToMessage } from './links.js';
import { codeInWords, deliveryOf } from './message-words.js';
import type { People } from './people.js';
import { Questions } from './questions.js';
import { TemporalLink, withoutStep } from './runs.js';

interface RunProps {
  run: RunStory;
  tools: TenantConfiguration['tools'];
  owners: TenantConfiguration['owners'];
  people: People;
  csrfToken: string;
  clock: Clock;
  temporalUrl: string | undefined;
}

export function RunPage(props: RunProps): JSX.Element {
  const { run, tools, owners, people, csrfToken, clock, temporalUrl } = props;
  return (
    <div
      id="run"
      class="story"
      hx-get={`/console/runs/${run.runId}/story`}
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      <dl class="facts summary">
        <Fact name="State">
          <State of="run" state={run.isUnknown ? 'unknown' : run.state} />
        </Fact>
        <Fact name="Asked by">
          <a href={`/console/conversations/${run.chatId}#newest`}>
            <Who chat={run.with} called={run.with && people.ownChat(run.with)} />
          </a>
        </Fact>
        <Fact name="Started">
          <Time at={run.startedAt} clock={clock} absolute />
        </Fact>
        <Fact name="Took">
          <Duration from={run.startedAt} to={run.closedAt ?? clock.now} />
        </Fact>
        {run.code === undefined ? null : (
          <Fact name="Code">
            <code safe>{run.code}</code>
          </Fact>
        )}
        {temporalUrl === undefined ? null : (
          <Fact name="History">
            <TemporalLink href={temporalUrl} />
          </Fact>
        )}
      </dl>

      <Chapter title="Asked">
        {run.messages.map((message) => (
          <blockquote class="said">
            <TextOrErased text={message.text} />
            <footer class="quiet">
              <Time at={message.at} clock={clock} absolute />
              {' · '}
              <a href={linkToMessage({ ...message, chatId: run.chatId, id: message.messageId })}>
                in the chat
              </a>
            </footer>
          </blockquote>
        ))}
        {run.because === undefined ? null : (
          <p class="quiet">
            Taken as a task because: <Visible text={run.because} />
          </p>
        )}
      </Chapter>

      <Chapter title="Steps">
        {run.steps.length === 0 ? (
          <p class="quiet" safe>
            {`${withoutStep(run)}.`}
          </p>
        ) : null}
        {run.steps.map((step, index) => (
          <Step step={step} place={index + 1} tools={tools} clock={clock} />
        ))}
      </Chapter>

      {run.approvals.length > 0 ? (
        <Chapter title="Approval">
          {run.approvals.map((approval) => (
            <ApprovalCard
              approval={approval}
              tools={tools}
              owners={owners}
              csrfToken={csrfToken}
              clock={clock}
            />
          ))}
        </Chapter>
      ) : null}

      {run.questions.length > 0 ? (
        <Chapter title="Passed on to operators">
          <Questions questions={run.questions} people={people} clock={clock} />
        </Chapter>
      ) : null}

      {run.says.length > 0 ? (
        <Chapter title="Said to the customer">
          {run.says.map((say) => (
            <blockquote class="said">
              <TextOrErased text={say.text} />
              <footer class="quiet">
                <Delivery say={say} channel={run.with?.channel} /> <Time at={say.at} clock={clock} absolute />
                {' · '}
                <a href={linkToMessage({ ...say, id: say.outboxId })}>in the chat</a>
              </footer>
            </blockquote>
          ))}
        </Chapter>
      ) : null}

      {run.audit.length > 0 ? <Trail run={run} owners={owners} clock={clock} /> : null}
    </div>
  );
}

function Delivery(props: { say: RunStory['says'][number]; channel: string | undefined }): JSX.Element {
  const { say, channel } = props;
  const { tone, word } = deliveryOf({ ...say, isTaken: false, isByCommit: channel === 'web' });
  return (
    <>
      <Badge tone={tone} word={word} />
      {say.code === undefined ? null : <span safe>{` ${codeInWords(say.code)}`}</span>}
    </>
  );
}

function Chapter({ title, children }: { title: string; children: Children }): JSX.Element {
  return (
    <section class="chapter">
      <h2 safe>{title}</h2>
      {children}
    </section>
  );
}

function Step(props: {
  step: StepView;
  /** Counted from 1, as people do. */
  place: number;
  tools: RunProps['tools'];
  clock: Clock;
}): JSX.Element {
  const { step, place, clock } = props;
  return (
    <article class="card step">
      <header>
        <h3>
          <span class="quiet" safe>{`${place}. `}</span>
          <span safe>{titleOf(step.tool)}</span>
        </h3>
        <State of="step" state={step.isDeclined ? 'declined' : step.state} />
      </header>
      <Arguments values={step.arguments} tool={props.tools.find((tool) => tool.name === step.tool)} />
      <dl class="facts">
        {step.effect === undefined ? null : (
          <Fact name="Effect">
            <span safe>{step.effect.replace('_', ' ')}</span>
          </Fact>
        )}
        {step.rule === undefined ? null : (
          <Fact name="Rule">
            <code safe>{step.rule}</code>
          </Fact>
        )}
        {step.failedCheck === undefined ? null : (
          <Fact name="Stopped by">
            <code safe>{step.failedCheck}</code>
          </Fact>
        )}
        {step.code === undefined ? null : (
          <Fact name="Code">
            <code safe>{step.code}</code>
          </Fact>
        )}
        {step.startedAt && step.finishedAt ? (
          <Fact name="Took">
            <Duration from={step.startedAt} to={step.finishedAt} />
          </Fact>
        ) : null}
        {step.startedAt ? (
          <Fact name="Started">
            <Time at={step.startedAt} clock={clock} absolute />
          </Fact>
        ) : null}
        {step.isTainted ? (
          <Fact name="Source">
            <span>built on untrusted content</span>
          </Fact>
        ) : null}
      </dl>
    </article>
  );
}

function Trail({ run, owners, clock }: Pick<RunProps, 'run' | 'owners' | 'clock'>): JSX.Element {
  return (
    <section class="chapter">
      <h2>Audit trail</h2>
      <ol class="trail">
        {run.audit.map((line) => (
          <li>
            <strong safe>{auditInWords(line, owners)}</strong>
            <Time at={line.at} clock={clock} absolute />
            <code class="trail-facts" safe>
              {Object.entries(line.facts)
                .map(
                  ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
                )
                .join('  ')}
            </code>
          </li>
        ))}
      </ol>
    </section>
  );
}
