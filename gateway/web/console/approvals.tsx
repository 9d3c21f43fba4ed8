// Approvals: what would be done exactly, who asked, until when; and what came of those that were decided.
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { ApprovalView } from '../../../prisma/stores/views/approvals.js';
import { MAX_REASON_LENGTH } from '../../decisions.js';
import { Arguments, titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { Badge, State, type Tone } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { TextOrErased, Visible } from '../components/visible.js';
import { ChatName, Empty } from './shell.js';

export interface ApprovalsProps {
  waiting: ApprovalView[];
  /** Decided a moment ago: they keep their place, so that nothing jumps under the owner's finger. */
  fresh: ApprovalView[];
  history: ApprovalView[];
  tools: TenantConfiguration['tools'];
  owners: TenantConfiguration['owners'];
  csrfToken: string;
  clock: Clock;
}

export function ApprovalsList(props: ApprovalsProps): JSX.Element {
  const cards = [...props.waiting, ...props.fresh].sort(
    (one, other) => one.askedAt.getTime() - other.askedAt.getTime() || one.ref.localeCompare(other.ref),
  );
  return (
    <div
      id="approvals"
      hx-get="/console/approvals/list"
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      {cards.length === 0 ? (
        <Empty icon="approvals" title="Nothing waits for you">
          When the assistant wants to do something that needs your yes, it appears here. Try it: ask for a
          booking in the{' '}
          <a href="/" target="_blank">
            chat
          </a>
          .
        </Empty>
      ) : (
        <section aria-label="Waiting" class="cards">
          {cards.map((approval) => (
            <ApprovalCard approval={approval} {...props} />
          ))}
        </section>
      )}
      {props.history.length > 0 ? (
        <section aria-labelledby="decided">
          <h2 id="decided">Decided</h2>
          <ul class="decided">
            {props.history.map((approval) => (
              <Decided approval={approval} owners={props.owners} clock={props.clock} />
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  );
}

type CardProps = Pick<ApprovalsProps, 'tools' | 'owners' | 'csrfToken' | 'clock'> & {
  approval: ApprovalView;
};
type OutcomeProps = Pick<CardProps, 'approval' | 'owners' | 'clock'>;

export function ApprovalCard({ approval, tools, owners, csrfToken, clock }: CardProps): JSX.Element {
  const tool = tools.find((one) => one.name === approval.tool);
  const isOpen = approval.state === 'open' && approval.expiresAt > clock.now;
  const isOurs = approval.gate === 'approve';
  return (
    <article class={['card', 'approval', isOpen ? 'open' : 'closed']} id={`approval-${approval.approvalId}`}>
      <header>
        <div>
          <h2 safe>{titleOf(approval.tool)}</h2>
          {tool ? (
            <p class="quiet" safe>
              {tool.description}
            </p>
          ) : null}
        </div>
        <code class="ref" title="The REF names this request, on every channel." safe>
          {approval.ref}
        </code>
      </header>
      <Arguments values={approval.arguments} tool={tool} />
      <dl class="facts">
        <div>
          <dt>Asked by</dt>
          <dd>
            <ChatName chat={approval.chat} />
          </dd>
        </div>
        <div>
          <dt>Asked</dt>
          <dd>
            <Time at={approval.askedAt} clock={clock} absolute />
          </dd>
        </div>
        {isOpen ? (
          <div>
            <dt>Expires</dt>
            <dd>
              <Time at={approval.expiresAt} clock={clock} absolute />
            </dd>
          </div>
        ) : null}
        <div>
          <dt>Rule</dt>
          <dd>
            <code safe>{approval.rule}</code>
          </dd>
        </div>
      </dl>
      {isOpen && isOurs ? <Buttons approval={approval} csrfToken={csrfToken} /> : null}
      {isOpen && !isOurs ? <p class="quiet">The customer is asked in the chat.</p> : null}
      {isOpen ? null : (
        <footer class="came-of-it">
          <CameOfIt approval={approval} owners={owners} clock={clock} />
        </footer>
      )}
    </article>
  );
}

function Buttons({ approval, csrfToken }: { approval: ApprovalView; csrfToken: string }): JSX.Element {
  const { approvalId, ref } = approval;
  const action = `/console/approvals/${approvalId}`;
  // A refresh keeps the element with this id as it is: an opened box and half a reason survive it.
  return (
    <footer class="buttons" id={`buttons-${approvalId}`} hx-preserve="true">
      <form
        method="post"
        action={action}
        hx-post={action}
        hx-target={`#approval-${approvalId}`}
        hx-swap="outerHTML"
        hx-disabled-elt="find button"
      >
        <input type="hidden" name="_csrf" value={csrfToken} />
        <input type="hidden" name="decision" value="approve" />
        <button type="submit" class="approve" aria-label={`Approve ${ref}`}>
          <Icon name="check" />
          <span>Approve</span>
        </button>
      </form>
      <details class="reject">
        <summary role="button" class="secondary outline">
          <Icon name="cross" />
          <span>Reject…</span>
        </summary>
        <form
          method="post"
          action={action}
          hx-post={action}
          hx-target={`#approval-${approvalId}`}
          hx-swap="outerHTML"
          hx-disabled-elt="find button"
        >
          <input type="hidden" name="_csrf" value={csrfToken} />
          <input type="hidden" name="decision" value="reject" />
          <label for={`reason-${approvalId}`}>
            Reason <span class="quiet">(optional; the customer will read it)</span>
          </label>
          <input
            id={`reason-${approvalId}`}
            name="reason"
            type="text"
            maxlength={MAX_REASON_LENGTH}
            placeholder="We are closed that morning"
            autocomplete="off"
          />
          <button type="submit" class="danger" aria-label={`Reject ${ref}`}>
            Reject
          </button>
        </form>
      </details>
    </footer>
  );
}

function Decided({ approval, owners, clock }: OutcomeProps): JSX.Element {
  return (
    <li>
      <a href={`/console/runs/${approval.turnId}`} class="decided-what">
        <strong safe>{titleOf(approval.tool)}</strong> <code safe>{approval.ref}</code>
        <span class="quiet">
          <TextOrErased text={inOneLine(approval.arguments)} />
        </span>
      </a>
      <CameOfIt approval={approval} owners={owners} clock={clock} />
    </li>
  );
}

/** The values as they were approved, in the order of the request. */
function inOneLine(values: ApprovalView['arguments']): string | undefined {
  return (
    values &&
    Object.values(values)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(', ')
  );
}

/** Who decided what, when and why, and what happened then. */
function CameOfIt({ approval, owners, clock }: OutcomeProps): JSX.Element {
  const { decision } = approval;
  const [tone, word] = resultOf(approval);
  const state = approval.state === 'open' ? 'expired' : approval.state;
  return (
    <div class="outcome">
      <p class="badges">
        <State of="approval" state={state} />
        {state === 'approved' || state === 'used' ? <Badge tone={tone} word={word} /> : null}
      </p>
      <p class="quiet">
        {decision && decision.decision !== 'expire' ? (
          <>
            by{' '}
            <span safe>
              {owners.find((owner) => owner.id === decision.approver)?.name ?? decision.approver}
            </span>{' '}
            (<span safe>{decision.surface}</span>), <Time at={decision.decidedAt} clock={clock} />
          </>
        ) : (
          <>
            nobody answered in time, <Time at={approval.expiresAt} clock={clock} />
          </>
        )}
        {state === 'rejected' || state === 'expired' ? '. Nothing was done.' : null}
      </p>
      {decision?.reason === undefined ? null : (
        <blockquote>
          <TextOrErased text={decision.reason} />
        </blockquote>
      )}
      {approval.told === undefined ? null : (
        <p class="quiet">
          The customer was told: <Visible text={approval.told} />
        </p>
      )}
    </div>
  );
}

function resultOf({ stepState }: ApprovalView): [Tone, string] {
  switch (stepState) {
    case 'succeeded':
      // Whether the answer was a yes is in what the customer was told: a calendar may also say that a time is taken.
      return ['good', 'Carried out'];
    case 'failed':
      return ['bad', 'Failed'];
    case 'unknown':
      return ['bad', 'Unknown outcome'];
    case 'refused':
    case 'rejected':
      return ['quiet', 'Not done'];
    default:
      return ['busy', 'Being carried out'];
  }
}
