// Effects of which nobody knows whether they happened: an owner looks where it would have happened, and says so.
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { UnknownStep } from '../../../prisma/stores/views/unknown-steps.js';
import { Arguments, titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { Badge } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { Who } from '../components/who.js';
import { nameOf } from './came-of-it.js';

interface Shared {
  tools: TenantConfiguration['tools'];
  owners: TenantConfiguration['owners'];
  csrfToken: string;
  clock: Clock;
}

export function Outcomes(props: Shared & { steps: UnknownStep[] }): JSX.Element {
  const { steps } = props;
  if (steps.length === 0) return '';
  return (
    <section class="outcomes" aria-labelledby="outcomes">
      <h2 id="outcomes">Did this happen?</h2>
      <p class="quiet">
        It was begun, and no answer came. Nothing is repeated until you have looked where it would have
        happened. What you say is final, and the customer is told.
      </p>
      <div class="cards">
        {steps.map((step) => (
          <OutcomeCard step={step} {...props} />
        ))}
      </div>
    </section>
  );
}

export function OutcomeCard(props: Shared & { step: UnknownStep }): JSX.Element {
  const { step, tools, owners, csrfToken, clock } = props;
  const { stepId, ref, finding } = step;
  return (
    <article
      class={['card', 'approval', finding ? 'closed' : 'unknown']}
      id={`outcome-${stepId}`}
      tabindex="-1"
      aria-labelledby={`outcome-title-${stepId}`}
    >
      <header>
        <h3 id={`outcome-title-${stepId}`} safe>
          {titleOf(step.tool)}
        </h3>
        <code class="ref" title="On every channel: HAPPENED or NOT, and this REF." safe>
          {ref}
        </code>
      </header>
      <Arguments values={step.arguments} tool={tools.find(({ name }) => name === step.tool)} />
      <dl class="facts">
        <div>
          <dt>For</dt>
          <dd>
            <a href={`/console/conversations/${step.chatId}#newest`} id={`chat-of-${stepId}`}>
              <Who chat={step.with} />
            </a>
          </dd>
        </div>
        <div>
          <dt>Begun</dt>
          <dd>
            <Time at={step.finishedAt} clock={clock} absolute />
          </dd>
        </div>
        <div>
          <dt>Story</dt>
          <dd>
            <a href={`/console/runs/${step.turnId}`} id={`run-of-${stepId}`}>
              The whole run
            </a>
          </dd>
        </div>
      </dl>
      {finding ? (
        <footer class="came-of-it">
          <p class="outcome">
            <Badge
              tone={finding.happened ? 'good' : 'quiet'}
              word={finding.happened ? 'It was done' : 'It wasn’t done'}
            />
            <span class="quiet">
              says <span safe>{nameOf(finding.by, owners)}</span>, <Time at={finding.at} clock={clock} />
            </span>
          </p>
        </footer>
      ) : (
        <Choices stepId={stepId} refCode={ref} csrfToken={csrfToken} />
      )}
    </article>
  );
}

function Choices(props: { stepId: string; refCode: string; csrfToken: string }): JSX.Element {
  const { stepId, refCode, csrfToken } = props;
  const action = `/console/outcomes/${stepId}`;
  return (
    <form
      class="choices"
      id={`choices-${stepId}`}
      method="post"
      action={action}
      hx-post={action}
      hx-target={`#outcome-${stepId}`}
      hx-swap="outerHTML"
      hx-disabled-elt="find button"
    >
      <input type="hidden" name="_csrf" value={csrfToken} />
      <button
        type="submit"
        name="finding"
        value="happened"
        id={`happened-${stepId}`}
        class="secondary outline"
        aria-label={`${refCode} was done`}
      >
        <Icon name="check" />
        <span>It was done</span>
      </button>
      <button
        type="submit"
        name="finding"
        value="notHappened"
        id={`not-${stepId}`}
        class="secondary outline"
        aria-label={`${refCode} wasn’t done`}
      >
        <Icon name="cross" />
        <span>It wasn’t done</span>
      </button>
    </form>
  );
}
