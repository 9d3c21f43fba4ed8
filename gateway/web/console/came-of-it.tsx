// What became of a request: who said what, when, where and why, and what happened then.
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { ApprovalView, DecisionView } from '../../../prisma/stores/views/approvals.js';
import { Badge, State, type Tone } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { TextOrErased, Visible } from '../components/visible.js';

type Owners = TenantConfiguration['owners'];

/** The name of an owner; anybody else is called as the row calls them. `owner:<id>` and `<id>` are the same. */
export function nameOf(actor: string, owners: Owners): string {
  const id = actor.replace(/^owner:/, '');
  return owners.find((owner) => owner.id === id)?.name ?? actor;
}

const WHERE: Record<string, string> = {
  console: 'in the console',
  whatsapp: 'on WhatsApp',
  web: 'in the web chat',
  api: 'through the API',
  cli: 'on the command line',
  temporal: 'in Temporal',
  chat: 'in the chat',
};

/** Surfaces that know no persons are called by their own name, and need not be named twice. */
function whoAndWhere({ approver, surface }: DecisionView, owners: Owners): string {
  const where = WHERE[surface] ?? surface;
  return approver === surface ? where : `by ${nameOf(approver, owners)} ${where}`;
}

const SAID: Record<string, string> = { approve: 'Approved', reject: 'Rejected', edit: 'Changed' };

export function CameOfIt(props: { approval: ApprovalView; owners: Owners; clock: Clock }): JSX.Element {
  const { approval, owners, clock } = props;
  const [tone, word] = resultOf(approval);
  const state = approval.state === 'open' ? 'expired' : approval.state;
  const said = approval.decisions.filter(({ decision }) => decision !== 'expire');
  return (
    <div class="outcome">
      <p class="badges">
        <State of="approval" state={state} />
        {state === 'approved' || state === 'used' ? <Badge tone={tone} word={word} /> : null}
      </p>
      {said.map((decision) => (
        <Said decision={decision} owners={owners} clock={clock} />
      ))}
      {state === 'expired' ? (
        <p class="quiet">
          nobody answered in time, <Time at={approval.expiresAt} clock={clock} absolute />
        </p>
      ) : null}
      {state === 'rejected' || state === 'expired' ? <p class="quiet">Nothing was done.</p> : null}
      {approval.replacedBy === undefined ? null : (
        <p class="quiet">
          <code safe>{approval.replacedBy}</code> asks instead.
        </p>
      )}
      {approval.told === undefined || state === 'edited' ? null : (
        <p class="quiet told">
          The customer was told: <Visible text={approval.told} />
        </p>
      )}
    </div>
  );
}

function Said(props: { decision: DecisionView; owners: Owners; clock: Clock }): JSX.Element {
  const { decision, owners, clock } = props;
  return (
    <>
      <p class="quiet">
        <span safe>{`${SAID[decision.decision] ?? decision.decision} ${whoAndWhere(decision, owners)}`}</span>
        , <Time at={decision.decidedAt} clock={clock} absolute />
      </p>
      {decision.reason === undefined ? null : (
        <blockquote>
          <TextOrErased text={decision.reason} />
        </blockquote>
      )}
    </>
  );
}

function resultOf({ stepState, isDeclined }: ApprovalView): [Tone, string] {
  switch (stepState) {
    case 'succeeded':
      return isDeclined ? ['wait', 'Tried, and not possible'] : ['good', 'Carried out'];
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
