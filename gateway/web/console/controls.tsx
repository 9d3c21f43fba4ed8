// What an owner can stop at once: every effect, or the assistant in one chat; and how it goes on.
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { EffectsState } from '../../../prisma/stores/switches.js';
import type { TakenChat } from '../../../prisma/stores/views/desk.js';
import { Icon } from '../components/icons.js';
import { Badge } from '../components/state.js';
import { Time, type Clock } from '../components/time.js';
import { Who, whoInWords } from '../components/who.js';
import { nameOf } from './came-of-it.js';
import { Empty } from './shell.js';

export interface ControlsProps {
  effects: EffectsState;
  taken: TakenChat[];
  owners: TenantConfiguration['owners'];
  operators: TenantConfiguration['operators'];
  csrfToken: string;
  clock: Clock;
}

export function Controls(props: ControlsProps): JSX.Element {
  return (
    <div
      id="controls"
      tabindex="-1"
      hx-get="/console/controls/list"
      hx-trigger="sse:changed, every 30s"
      hx-swap="outerHTML"
    >
      <EffectsSwitch {...props} />
      <section class="chapter" aria-labelledby="taken">
        <h2 id="taken">Chats that a person has</h2>
        <Taken {...props} />
      </section>
      <section class="chapter" aria-labelledby="own-chat">
        <h2 id="own-chat">Your own chat</h2>
        <p class="quiet">
          Write to the assistant as yourself: what you would say on WhatsApp, you can say here. Requests are
          sent there too, once you have written.
        </p>
        <p>
          <a href="/console/chat" id="to-own-chat" class="outward">
            <Icon name="chat" />
            <span>Open your chat</span>
          </a>
        </p>
      </section>
    </div>
  );
}

function EffectsSwitch({ effects, owners, csrfToken, clock }: ControlsProps): JSX.Element {
  const isOn = effects.value === 'on';
  const { changedAt, changedBy } = effects;
  return (
    <section class={['card', 'switch', isOn ? 'is-on' : 'is-off']} aria-labelledby="effects">
      <header>
        <h2 id="effects">Effects</h2>
        <Badge tone={isOn ? 'good' : 'bad'} word={isOn ? 'On' : 'Off'} />
      </header>
      <p>
        {isOn
          ? 'What is approved is carried out. Switch this off when something goes wrong: nothing that changes anything is started then, within a second.'
          : 'Nothing that changes anything is started. What is approved meanwhile is refused, not put off; the customer hears so. Looking things up and answering go on.'}
      </p>
      {changedAt ? (
        <p class="quiet">
          <span safe>{`Switched ${effects.value} by ${nameOf(changedBy ?? '', owners)}`}</span>,{' '}
          <Time at={changedAt} clock={clock} absolute />
        </p>
      ) : (
        <p class="quiet">Nobody has ever switched it.</p>
      )}
      <form
        method="post"
        action="/console/controls/effects"
        hx-post="/console/controls/effects"
        hx-target="#controls"
        hx-swap="outerHTML"
        hx-disabled-elt="find button"
      >
        <input type="hidden" name="_csrf" value={csrfToken} />
        <input type="hidden" name="to" value={isOn ? 'off' : 'on'} />
        {isOn ? (
          <button type="submit" id="switch-effects" class="danger">
            Switch all effects off
          </button>
        ) : (
          // Off takes one press, on takes two: a double click on one must not be the other.
          <details>
            <summary role="button" class="secondary outline" id="switch-effects">
              Switch effects on again…
            </summary>
            <button type="submit" id="switch-on">
              Yes, let them start again
            </button>
          </details>
        )}
      </form>
    </section>
  );
}

function Taken(props: ControlsProps): JSX.Element {
  const { taken, csrfToken, clock } = props;
  if (taken.length === 0) {
    return (
      <Empty icon="person" title="The assistant has every chat">
        When somebody writes to a customer from the shop’s own phone, or takes a chat over, the assistant is
        silent there until it is given back. Such chats are listed here.
      </Empty>
    );
  }
  return (
    <ul class="taken">
      {taken.map((chat) => (
        <li id={`taken-${chat.chatId}`}>
          <div>
            <strong>
              <Who chat={chat.with} />
            </strong>
            <p class="quiet">
              with <span safe>{personOf(chat.by, props)}</span>, since{' '}
              <Time at={chat.since} clock={clock} absolute />
            </p>
            <p class="quiet">
              {chat.until ? (
                <>
                  goes back by itself <Time at={chat.until} clock={clock} absolute />
                </>
              ) : (
                'until it is given back'
              )}
            </p>
          </div>
          <form
            method="post"
            action={`/console/controls/chats/${chat.chatId}/release`}
            hx-post={`/console/controls/chats/${chat.chatId}/release`}
            hx-target="#controls"
            hx-swap="outerHTML"
            hx-disabled-elt="find button"
          >
            <input type="hidden" name="_csrf" value={csrfToken} />
            <button
              type="submit"
              class="secondary outline"
              id={`release-${chat.chatId}`}
              aria-label={`Give the chat with ${chat.with ? whoInWords(chat.with) : 'this customer'} back`}
            >
              <Icon name="back" />
              <span>Give back</span>
            </button>
          </form>
        </li>
      ))}
    </ul>
  );
}

/** Who has it: an owner or operator by name, or somebody at the shop's own phone. */
function personOf(by: string, { owners, operators }: ControlsProps): string {
  if (by === 'business') return 'somebody at the shop’s phone';
  if (by.startsWith('operator:')) {
    const id = by.slice('operator:'.length);
    return operators.find((one) => one.id === id)?.name ?? by;
  }
  return nameOf(by, owners);
}
