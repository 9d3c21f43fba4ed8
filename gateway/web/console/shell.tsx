// The frame of the owner console: where one is, what waits, who is logged in.
import type { Children } from '@kitajs/html';
import type { Counts } from '../../../prisma/stores/views/messages.js';
import { Document } from '../components/document.js';
import { Icon, type IconName } from '../components/icons.js';

/** `search` has its own place in the frame, and none in the list of pages. */
export type Place = 'approvals' | 'conversations' | 'runs' | 'messages' | 'controls' | 'search';

export interface ShellProps {
  title: string;
  at: Place;
  business: string;
  owner: string;
  counts: Counts;
  csrfToken: string;
  modelLabel: string | undefined;
  /** What came of what was just done, where the page is the answer to it. */
  notice?: { words: string; isGood: boolean } | undefined;
  children: Children;
}

export function Shell(props: ShellProps): JSX.Element {
  const { title, at, business, owner, counts, csrfToken } = props;
  return (
    <Document
      title={`${title} · ${business}`}
      layout="console"
      scripts={['times.js', 'console.js']}
      htmx={{ csrfToken, events: '/console/events' }}
    >
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <aside class="side">
        <div class="brand">
          <span class="avatar" aria-hidden="true" safe>
            {[...business.trim()][0]?.toUpperCase() ?? '·'}
          </span>
          <span class="brand-name">
            <strong safe>{business}</strong>
            <span class="quiet">Owner console</span>
          </span>
        </div>
        <SearchBox at={at} />
        <Navigation at={at} counts={counts} />
        <Notice {...props.notice} />
        <div class="side-end">
          {props.modelLabel ? (
            <span class="model-label" title="The answers come from a stand-in, not from a real model." safe>
              {props.modelLabel}
            </span>
          ) : null}
          <span class="quiet owner">
            Logged in as <strong safe>{owner}</strong>
          </span>
          <form method="post" action="/console/logout">
            <input type="hidden" name="_csrf" value={csrfToken} />
            <button type="submit" class="plain" aria-label="Log out">
              <Icon name="logout" />
              <span>Log out</span>
            </button>
          </form>
        </div>
      </aside>
      <main id="main" class="console-main" tabindex="-1">
        {props.children}
      </main>
    </Document>
  );
}

const PLACES: { at: Place; name: string; icon: IconName }[] = [
  { at: 'approvals', name: 'Approvals', icon: 'approvals' },
  { at: 'conversations', name: 'Chats', icon: 'chats' },
  { at: 'runs', name: 'Runs', icon: 'runs' },
  { at: 'messages', name: 'Messages', icon: 'messages' },
  { at: 'controls', name: 'Controls', icon: 'controls' },
];

/** Asks for itself again when something has changed, so that the numbers are true on every page. */
export function Navigation({ at, counts }: { at: Place; counts: Counts }): JSX.Element {
  return (
    <nav
      id="navigation"
      aria-label="Console"
      hx-get={`/console/navigation?at=${at}`}
      hx-trigger="sse:changed, controlsChanged from:body, every 60s"
      hx-swap="outerHTML"
    >
      <ul>
        {PLACES.map((place) => (
          <li>
            <a
              href={`/console/${place.at}`}
              aria-current={place.at === at ? 'page' : undefined}
              id={`to-${place.at}`}
            >
              <Icon name={place.icon} />
              <span safe>{place.name}</span>
              <Count place={place.at} counts={counts} />
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Count({ place, counts }: { place: Place; counts: Counts }): JSX.Element {
  const { number, meaning, tone } = countOf(place, counts);
  if (number === 0) return '';
  return (
    <span class={['count', tone]}>
      {number}
      <span class="for-screen-readers" safe>{` ${meaning}`}</span>
    </span>
  );
}

function countOf(place: Place, counts: Counts): { number: number; meaning: string; tone: string } {
  switch (place) {
    case 'approvals':
      return { number: counts.approvals, meaning: 'waiting for you', tone: 'wait' };
    case 'conversations':
      return { number: counts.taken, meaning: 'with a person', tone: 'quiet' };
    case 'runs':
      return { number: counts.unknown, meaning: 'with an unknown outcome', tone: 'bad' };
    case 'messages':
      return counts.sends > 0
        ? { number: counts.sends, meaning: 'may not have arrived', tone: 'bad' }
        : { number: counts.messages, meaning: 'open', tone: 'quiet' };
    case 'controls':
      return { number: counts.switchedOff, meaning: 'switched off', tone: 'bad' };
    case 'search':
      return { number: 0, meaning: '', tone: 'quiet' };
  }
}

/** On a phone a link to the page of the same name, which has the box. */
function SearchBox({ at }: { at: Place }): JSX.Element {
  return (
    <search>
      <a
        href="/console/search"
        class="to-search"
        aria-label="Search"
        aria-current={at === 'search' ? 'page' : undefined}
      >
        <Icon name="search" />
      </a>
      <form action="/console/search" class="search-box">
        <Icon name="search" />
        <input
          type="search"
          name="q"
          aria-label="Search: name, number, REF, id"
          placeholder="Name, number, REF"
          title="Press / to search"
          maxlength={200}
          autocomplete="off"
        />
      </form>
    </search>
  );
}

/**
 * One sentence about what was just done. Sent again out of band after every action. Its place is the frame: over the page
 * it would cover what the owner wants to press next.
 */
export function Notice(props: { words?: string; isGood?: boolean; outOfBand?: boolean }): JSX.Element {
  return (
    <div
      id="notice"
      class={['notice', props.isGood ? 'good' : 'bad']}
      role="status"
      aria-live="polite"
      hidden={props.words === undefined}
      hx-swap-oob={props.outOfBand ? 'true' : undefined}
    >
      <span safe>{props.words ?? ''}</span>
    </div>
  );
}

export function PageHead(props: { title: string; about: string; children?: Children }): JSX.Element {
  return (
    <header class="page-head">
      <div>
        <h1 safe>{props.title}</h1>
        <p class="quiet" safe>
          {props.about}
        </p>
      </div>
      {props.children}
    </header>
  );
}

/** What will appear here, and how to try it. */
export function Empty(props: { icon: IconName; title: string; children: Children }): JSX.Element {
  return (
    <div class="empty">
      <Icon name={props.icon} />
      <h2 safe>{props.title}</h2>
      <p class="quiet">{props.children}</p>
    </div>
  );
}
