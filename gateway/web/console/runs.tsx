// Runs: one line each. A table on a desk, cards on a phone.
import type { RunLine } from '../../../prisma/stores/views/runs.js';
import { titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { Paging, withQuery } from '../components/paging.js';
import { runStates, State } from '../components/state.js';
import { Duration, Time, type Clock } from '../components/time.js';
import { Who } from '../components/who.js';
import type { People } from './people.js';
import { Empty } from './shell.js';

/** As the address bar has them; empty and absent are the same. */
export interface RunQuery {
  /** A state, or one of `open`, `failed`, `unknown`. */
  state?: string | undefined;
  /** Local times of the business. */
  from?: string | undefined;
  to?: string | undefined;
  /** The last run of the page before. */
  before?: string | undefined;
}

export function RunsList(props: {
  runs: RunLine[];
  query: RunQuery;
  /** Where the next page goes on; absent: this is the last. */
  older: string | undefined;
  people: People;
  clock: Clock;
  linkOf: (runId: string) => string | undefined;
}): JSX.Element {
  const { older, query } = props;
  const { before, ...filters } = query;
  const unknown = props.runs.filter((run) => run.isUnknown).length;
  return (
    <div
      id="runs"
      hx-get={withQuery('/console/runs/list', { ...query })}
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      {unknown > 0 ? <UnknownNote count={unknown} /> : null}
      {props.runs.length === 0 ? (
        <NoRuns isFiltered={isFiltered(filters)} />
      ) : (
        <table class="cards-on-phone">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">What</th>
              <th scope="col">Asked by</th>
              <th scope="col">Started</th>
              <th scope="col">Took</th>
              <th scope="col">
                <span class="for-screen-readers">History</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {props.runs.map((run) => (
              <tr>
                <td data-label="State">
                  <State of="run" state={run.isUnknown ? 'unknown' : run.state} />
                </td>
                <td data-label="What">
                  <a href={`/console/runs/${run.runId}`} class="main-link" id={`run-${run.runId}`} safe>
                    {whatOf(run)}
                  </a>
                </td>
                <td data-label="Asked by">
                  <a href={`/console/conversations/${run.chatId}#newest`}>
                    <Who chat={run.with} called={run.with && props.people.ownChat(run.with)} />
                  </a>
                </td>
                <td data-label="Started">
                  <Time at={run.startedAt} clock={props.clock} />
                </td>
                <td data-label="Took">
                  <Duration from={run.startedAt} to={run.closedAt ?? props.clock.now} />
                </td>
                <td class="links">
                  <TemporalLink href={props.linkOf(run.runId)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Paging
        older={older === undefined ? undefined : withQuery('/console/runs', { ...filters, before: older })}
        newest={before === undefined ? undefined : withQuery('/console/runs', { ...filters })}
      />
    </div>
  );
}

function isFiltered({ state, from, to }: RunQuery): boolean {
  return [state, from, to].some((value) => value !== undefined && value !== '');
}

function NoRuns({ isFiltered: hasFilters }: { isFiltered: boolean }): JSX.Element {
  if (hasFilters) {
    return (
      <Empty icon="search" title="No run is like that">
        No run of this state was started in this time. <a href="/console/runs">Show all runs</a>
      </Empty>
    );
  }
  return (
    <Empty icon="runs" title="No runs yet">
      When a customer asks for something that takes a tool, the run appears here with every step. Try it: ask
      in the{' '}
      <a href="/" target="_blank">
        chat
      </a>{' '}
      whether a time is free.
    </Empty>
  );
}

/** By state and by time, in the time zone of the business. */
export function RunFilters({ query, timeZone }: { query: RunQuery; timeZone: string }): JSX.Element {
  const choice = (value: string, word: string): JSX.Element => (
    <option value={value} selected={value === (query.state ?? '')} safe>
      {word}
    </option>
  );
  return (
    <form action="/console/runs" class="run-filters" aria-label="Which runs">
      <label>
        <span>State</span>
        <select name="state">
          {choice('', 'All')}
          {choice('open', 'Not over yet')}
          {choice('failed', 'Failed or unknown')}
          <optgroup label="Only">
            {runStates()
              .filter(({ state }) => state !== 'failed')
              .map(({ state, word }) => choice(state, word))}
          </optgroup>
        </select>
      </label>
      <label>
        <span>From</span>
        <input type="datetime-local" name="from" value={query.from ?? ''} title={timeZone} />
      </label>
      <label>
        <span>To</span>
        <input type="datetime-local" name="to" value={query.to ?? ''} title={timeZone} />
      </label>
      <button type="submit">Show</button>
      {isFiltered(query) ? (
        <a href="/console/runs" class="clear">
          Clear
        </a>
      ) : null}
    </form>
  );
}

function whatOf(run: RunLine): string {
  if (run.tools.length === 0) return withoutStep(run);
  return run.tools.map(titleOf).join(', then ');
}

/** What a run without a step is about. */
export function withoutStep({ state, closedAt }: Pick<RunLine, 'state' | 'closedAt'>): string {
  switch (state) {
    case 'asked':
      return 'Asked the customer a question';
    case 'no_tool':
      return 'Answered without a tool';
    case 'already_open':
      return 'The same is under way already';
    default:
      return closedAt === undefined ? 'Nothing planned yet' : 'Nothing was planned';
  }
}

export function TemporalLink({ href }: { href: string | undefined }): JSX.Element {
  if (href === undefined) return '';
  return (
    <a href={href} target="_blank" rel="noreferrer" class="outward">
      <span>Temporal</span>
      <Icon name="external" />
    </a>
  );
}

function UnknownNote({ count }: { count: number }): JSX.Element {
  return (
    <p class="banner bad" role="alert">
      <Icon name="alert" />
      <span>
        <strong safe>
          {count === 1 ? 'One run has an unknown outcome.' : `${count} runs have an unknown outcome.`}
        </strong>{' '}
        It may or may not have happened, and nothing is repeated blindly. Look where it would have happened.
      </span>
    </p>
  );
}
