// The queue of requests and their history, with what is looked for among them.
import { SEARCHED_AT_MOST, type ApprovalView } from '../../../prisma/stores/views/approvals.js';
import type { UnknownStep } from '../../../prisma/stores/views/unknown-steps.js';
import { titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { Paging, withQuery } from '../components/paging.js';
import { Tabs } from '../components/tabs.js';
import { Time } from '../components/time.js';
import { TextOrErased } from '../components/visible.js';
import { Who } from '../components/who.js';
import { ApprovalCard, isWaiting, type CardProps } from './approvals.js';
import { CameOfIt } from './came-of-it.js';
import { Outcomes } from './outcomes.js';
import { Empty } from './shell.js';

export const SHOWN = ['waiting', 'decided', 'all'] as const;
export type Shown = (typeof SHOWN)[number];

/** What the address of the page says. */
export interface Wanted {
  show: Shown;
  tool?: string | undefined;
  q?: string | undefined;
  /** Goes on behind this request. */
  before?: string | undefined;
}

const PAGE = '/console/approvals';

export function addressOf(wanted: Partial<Wanted>, path = PAGE): string {
  const { show, tool, q, before } = wanted;
  return withQuery(path, { show: show === 'waiting' ? undefined : show, tool, q, before });
}

export interface ListProps extends Omit<CardProps, 'approval'> {
  wanted: Wanted;
  /** Requests that wait, and below them those decided a moment ago. */
  cards: ApprovalView[];
  decided: ApprovalView[];
  older: boolean;
  /** Tools that were ever asked about. */
  asked: string[];
  /** Effects of which nobody knows, or of which somebody has just said what they found. */
  unknown: UnknownStep[];
  areEffectsOff: boolean;
}

export function ApprovalsList(props: ListProps): JSX.Element {
  const { wanted, cards, decided } = props;
  const { show } = wanted;
  return (
    <div
      id="approvals"
      hx-get={addressOf(wanted, `${PAGE}/list`)}
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      {props.areEffectsOff ? <EffectsOff /> : null}
      <Outcomes {...props} steps={props.unknown} />
      {show === 'decided' ? null : <Waiting {...props} />}
      {decided.length > 0 ? (
        <section aria-labelledby="decided">
          <h2 id="decided">{show === 'waiting' ? 'Decided lately' : 'Decided'}</h2>
          <ul class="decided">
            {decided.map((approval) => (
              <Decided approval={approval} owners={props.owners} clock={props.clock} />
            ))}
          </ul>
          {show === 'waiting' ? (
            <p class="all-decided">
              <a href={addressOf({ ...wanted, show: 'decided' })} id="all-decided">
                All that was decided
              </a>
            </p>
          ) : null}
        </section>
      ) : null}
      {show === 'decided' && decided.length === 0 ? <NothingDecided wanted={wanted} /> : null}
      {show === 'all' && cards.length + decided.length === 0 ? <NothingDecided wanted={wanted} /> : null}
      {show === 'waiting' ? null : (
        <Paging
          older={props.older ? addressOf({ ...wanted, before: decided.at(-1)?.approvalId }) : undefined}
          newest={wanted.before === undefined ? undefined : addressOf({ ...wanted, before: undefined })}
        />
      )}
    </div>
  );
}

function Waiting(props: ListProps): JSX.Element {
  const { cards, wanted } = props;
  if (cards.length === 0) return wanted.show === 'waiting' ? <NothingWaits wanted={wanted} /> : '';
  return (
    <section aria-label="Waiting" class="cards">
      {cards.map((approval) => (
        <ApprovalCard approval={approval} {...props} />
      ))}
    </section>
  );
}

function NothingWaits({ wanted }: { wanted: Wanted }): JSX.Element {
  if (isNarrowed(wanted)) {
    return (
      <Empty icon="approvals" title="Nothing of this kind waits">
        <a href={PAGE}>Show everything that waits</a>
      </Empty>
    );
  }
  return (
    <Empty icon="approvals" title="Nothing waits for you">
      When the assistant wants to do something that needs your yes, it appears here. Try it: ask for a booking
      in the{' '}
      <a href="/" target="_blank">
        chat
      </a>
      .
    </Empty>
  );
}

function NothingDecided({ wanted }: { wanted: Wanted }): JSX.Element {
  if (isNarrowed(wanted)) {
    return (
      <Empty icon="approvals" title="Nothing found">
        <span>{`Looked among the newest ${SEARCHED_AT_MOST} requests. `}</span>
        <a href={addressOf({ show: wanted.show })}>Show all of them</a>
      </Empty>
    );
  }
  return (
    <Empty icon="approvals" title="No decisions yet">
      What you approve, reject or change stays here: who said it, when, where, and what came of it.
    </Empty>
  );
}

function isNarrowed({ tool, q }: Wanted): boolean {
  return tool !== undefined || q !== undefined;
}

function EffectsOff(): JSX.Element {
  return (
    <p class="banner bad" role="alert">
      <Icon name="alert" />
      <span>
        <strong>Effects are switched off.</strong> What you approve now isn’t carried out.{' '}
        <a href="/console/controls">To the switch</a>
      </span>
    </p>
  );
}

/** Stands outside of what is asked for again: nobody's half-typed word is taken away. */
export function Filters({ wanted, asked }: { wanted: Wanted; asked: string[] }): JSX.Element {
  const { show, tool, q } = wanted;
  const names: Record<Shown, string> = { waiting: 'Waiting', decided: 'Decided', all: 'All' };
  return (
    <div class="filters">
      <Tabs
        label="Which requests"
        tabs={SHOWN.map((one) => ({
          name: names[one],
          href: addressOf({ show: one, tool, q }),
          isCurrent: one === show,
        }))}
      />
      <form action={PAGE} class="filter" aria-label="Narrow the list">
        {show === 'waiting' ? null : <input type="hidden" name="show" value={show} />}
        <label>
          <span class="for-screen-readers">What is asked for</span>
          <select name="tool" id="filter-tool">
            <option value="">Every kind</option>
            {asked.map((name) => (
              <option value={name} selected={name === tool} safe>
                {titleOf(name)}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="for-screen-readers">REF, name or number</span>
          <input
            type="search"
            name="q"
            id="filter-text"
            value={q ?? ''}
            maxlength={100}
            placeholder="REF, name or number"
            autocomplete="off"
          />
        </label>
        <button type="submit" class="secondary outline">
          Show
        </button>
      </form>
    </div>
  );
}

function Decided({ approval, owners, clock }: Pick<CardProps, 'approval' | 'owners' | 'clock'>): JSX.Element {
  const { approvalId } = approval;
  return (
    <li>
      <div class="decided-what">
        <a href={`/console/approvals/${approvalId}`} id={`decided-${approvalId}`}>
          <strong safe>{titleOf(approval.tool)}</strong> <code safe>{approval.ref}</code>
        </a>
        <span class="quiet">
          <TextOrErased text={inOneLine(approval.arguments)} />
        </span>
        <span class="quiet decided-who">
          <Who chat={approval.with} /> · <Time at={approval.askedAt} clock={clock} />
        </span>
        <a href={`/console/runs/${approval.turnId}`} class="decided-run" id={`run-of-${approvalId}`}>
          Run<span class="for-screen-readers" safe>{` of ${approval.ref}`}</span>
        </a>
      </div>
      <CameOfIt approval={approval} owners={owners} clock={clock} />
    </li>
  );
}

/** The values as they were asked for, in the order of the request. */
function inOneLine(values: ApprovalView['arguments']): string | undefined {
  return (
    values &&
    Object.values(values)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(', ')
  );
}

/** One request by itself: what its REF leads to. */
export function OneApproval(props: CardProps): JSX.Element {
  const { approval, clock } = props;
  const address = `${PAGE}/${approval.approvalId}/card`;
  return (
    <div
      id="approval"
      class="cards"
      hx-get={address}
      hx-trigger={isWaiting(approval, clock) ? 'sse:changed, every 30s' : 'sse:changed'}
      hx-swap="outerHTML"
    >
      <ApprovalCard {...props} />
    </div>
  );
}
