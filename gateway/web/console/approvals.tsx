// One request: what would be done exactly, who asked, until when; the owner's answer; and what came of it.
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { ApprovalView } from '../../../prisma/stores/views/approvals.js';
import { isAsked } from '../../../workflows/domain/approval.js';
import { MAX_REASON_LENGTH } from '../../decisions.js';
import { Arguments, titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { Time, type Clock } from '../components/time.js';
import { Visible } from '../components/visible.js';
import { Who } from '../components/who.js';
import { CameOfIt, nameOf } from './came-of-it.js';

export interface CardProps {
  approval: ApprovalView;
  tools: TenantConfiguration['tools'];
  owners: TenantConfiguration['owners'];
  csrfToken: string;
  clock: Clock;
  /** Who looks. Absent: whoever it is may press. */
  ownerId?: string | undefined;
}

/** Still to be decided, in time. */
export function isWaiting({ state, expiresAt }: ApprovalView, { now }: Clock): boolean {
  return state === 'open' && expiresAt > now;
}

export function ApprovalCard(props: CardProps): JSX.Element {
  const { approval, tools, owners, csrfToken, clock, ownerId } = props;
  const tool = tools.find((one) => one.name === approval.tool);
  const isOpen = isWaiting(approval, clock);
  return (
    <article
      class={['card', 'approval', isOpen ? 'open' : 'closed']}
      id={`approval-${approval.approvalId}`}
      tabindex="-1"
      aria-labelledby={`title-${approval.approvalId}`}
    >
      <header>
        <div>
          <h2 id={`title-${approval.approvalId}`} safe>
            {titleOf(approval.tool)}
          </h2>
          {tool ? (
            <p class="quiet" safe>
              {tool.description}
            </p>
          ) : null}
          {tool?.mcp ? (
            <p class="provider">
              Done by the server{' '}
              <code>
                <Visible text={tool.mcp.server} />
              </code>
            </p>
          ) : null}
        </div>
        <a
          class="ref-link"
          id={`ref-${approval.approvalId}`}
          href={`/console/approvals/${approval.approvalId}`}
          title="The REF names this request, on every channel."
        >
          <code class="ref" safe>
            {approval.ref}
          </code>
        </a>
      </header>
      <Changed approval={approval} owners={owners} clock={clock} isOpen={isOpen} />
      <Arguments values={approval.arguments} tool={tool} before={approval.changedFrom?.arguments} />
      {approval.isTainted ? (
        <p class="caution">
          <Icon name="alert" />
          <span>Content from outside may have suggested this. Look twice.</span>
        </p>
      ) : null}
      <Facts approval={approval} owners={owners} clock={clock} isOpen={isOpen} />
      {isOpen ? (
        <Answer approval={approval} owners={owners} csrfToken={csrfToken} ownerId={ownerId} />
      ) : (
        <footer class="came-of-it">
          <CameOfIt approval={approval} owners={owners} clock={clock} />
        </footer>
      )}
    </article>
  );
}

function Changed(props: Pick<CardProps, 'approval' | 'owners' | 'clock'> & { isOpen: boolean }): JSX.Element {
  const { approval, owners, clock, isOpen } = props;
  const { replaces, changedFrom } = approval;
  if (replaces === undefined) return '';
  return (
    <p class="changed">
      {isOpen ? 'Asks instead of ' : 'Asked instead of '}
      <code safe>{replaces}</code>
      {changedFrom ? (
        <>
          , changed by <span safe>{nameOf(changedFrom.by, owners)}</span>{' '}
          <Time at={changedFrom.at} clock={clock} />
        </>
      ) : null}
      {isOpen ? '. It needs a yes of its own.' : '.'}
    </p>
  );
}

function Facts(props: Pick<CardProps, 'approval' | 'owners' | 'clock'> & { isOpen: boolean }): JSX.Element {
  const { approval, owners, clock, isOpen } = props;
  const { windowClosesAt, needed, yeses, approvers } = approval;
  return (
    <dl class="facts">
      <div>
        <dt>Asked by</dt>
        <dd>
          <a href={`/console/conversations/${approval.chatId}#newest`} id={`chat-of-${approval.approvalId}`}>
            <Who chat={approval.with} isWhole />
          </a>
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
            <span class="quiet then">
              {approval.onExpiry === 'handOff' ? 'then a person takes over' : 'then nothing is done'}
            </span>
          </dd>
        </div>
      ) : null}
      {isOpen && windowClosesAt ? (
        <div>
          <dt title="WhatsApp lets a business write freely for 24 hours after the customer’s last message.">
            {windowClosesAt > clock.now ? 'Their 24-hour window closes' : 'Their 24-hour window closed'}
          </dt>
          <dd>
            <Time at={windowClosesAt} clock={clock} absolute />
          </dd>
        </div>
      ) : null}
      {needed > 1 ? (
        <div>
          <dt>Yeses</dt>
          <dd safe>{`${yeses.length} of ${needed}${namesAfter(yeses, owners)}`}</dd>
        </div>
      ) : null}
      {approvers.length > 0 ? (
        <div>
          <dt>Who is asked</dt>
          <dd safe>{approvers.map((one) => nameOf(one, owners)).join(', ')}</dd>
        </div>
      ) : null}
      <div>
        <dt>Rule</dt>
        <dd>
          <code safe>{approval.rule}</code>
        </dd>
      </div>
      <div>
        <dt>Story</dt>
        <dd>
          <a href={`/console/runs/${approval.turnId}`} id={`run-of-${approval.approvalId}`}>
            The whole run
          </a>
        </dd>
      </div>
    </dl>
  );
}

function namesAfter(ids: readonly string[], owners: CardProps['owners']): string {
  return ids.length === 0 ? '' : `: ${ids.map((id) => nameOf(id, owners)).join(', ')}`;
}

/** The buttons, or why there are none. */
function Answer(props: Pick<CardProps, 'approval' | 'owners' | 'csrfToken' | 'ownerId'>): JSX.Element {
  const { approval, owners, csrfToken, ownerId } = props;
  if (approval.gate !== 'approve') return <p class="quiet">The customer is asked in the chat.</p>;
  if (ownerId !== undefined && !isAsked(approval, { surface: 'console', id: ownerId })) {
    const names = approval.approvers.map((one) => nameOf(one, owners)).join(', ');
    return <p class="not-asked quiet" safe>{`This is asked of ${names}.`}</p>;
  }
  const missing = approval.needed - approval.yeses.length;
  const hasSaidYes = ownerId !== undefined && approval.yeses.includes(ownerId);
  return (
    <>
      {hasSaidYes ? (
        <p
          class="not-asked"
          safe
        >{`You have said yes. ${missing} more ${missing === 1 ? 'person has' : 'people have'} to.`}</p>
      ) : null}
      <Buttons approval={approval} csrfToken={csrfToken} canApprove={!hasSaidYes} />
    </>
  );
}

function Buttons(props: { approval: ApprovalView; csrfToken: string; canApprove: boolean }): JSX.Element {
  const { approval, csrfToken, canApprove } = props;
  const { approvalId, ref } = approval;
  const action = `/console/approvals/${approvalId}`;
  // A refresh keeps the element with this id as it is: an opened box and half a reason survive it.
  return (
    <footer class="buttons" id={`buttons-${approvalId}-${canApprove ? 'open' : 'said'}`} hx-preserve="true">
      {canApprove ? (
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
          <button type="submit" class="approve" id={`approve-${approvalId}`} aria-label={`Approve ${ref}`}>
            <Icon name="check" />
            <span>Approve</span>
          </button>
        </form>
      ) : null}
      <a class="change" href={`${action}/edit`} id={`change-${approvalId}`} aria-label={`Change ${ref}`}>
        <Icon name="edit" />
        <span>Change…</span>
      </a>
      <details class="reject">
        <summary role="button" class="secondary outline" id={`reject-${approvalId}`}>
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
