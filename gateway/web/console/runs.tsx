// Runs: one line each. A table on a desk, cards on a phone.
import type { RunLine } from '../../../prisma/stores/views/runs.js';
import { titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { State } from '../components/state.js';
import { Duration, Time, type Clock } from '../components/time.js';
import { ChatName, Empty } from './shell.js';

export function RunsList(props: {
  runs: RunLine[];
  clock: Clock;
  linkOf: (runId: string) => string | undefined;
}): JSX.Element {
  const unknown = props.runs.filter((run) => run.isUnknown).length;
  return (
    <div id="runs" hx-get="/console/runs/list" hx-trigger="sse:changed, every 30s" hx-swap="outerHTML">
      {unknown > 0 ? <UnknownNote count={unknown} /> : null}
      {props.runs.length === 0 ? (
        <Empty icon="runs" title="No runs yet">
          When a customer asks for something that takes a tool, the run appears here with every step. Try it:
          ask in the{' '}
          <a href="/" target="_blank">
            chat
          </a>{' '}
          whether a time is free.
        </Empty>
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
                  <a href={`/console/runs/${run.runId}`} class="main-link" safe>
                    {whatOf(run)}
                  </a>
                </td>
                <td data-label="Asked by">
                  <ChatName chat={run.chat} />
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
    </div>
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
