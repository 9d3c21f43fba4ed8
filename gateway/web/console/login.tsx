// Logging in: by a link that works once. Opening it shows a button, so that previews of links don't use it up.
import type { Children } from '@kitajs/html';
import { Document } from '../components/document.js';
import { Icon, type IconName } from '../components/icons.js';

/** A page of one message: logging in, and errors. */
export function PlainPage(props: { title: string; icon: IconName; children: Children }): JSX.Element {
  return (
    <Document title={props.title} layout="plain">
      <main class="plain-page">
        <article class="card">
          <Icon name={props.icon} />
          <h1 safe>{props.title}</h1>
          {props.children}
        </article>
      </main>
    </Document>
  );
}

export function LoginPage(props: { business: string; token: string; csrfToken: string }): JSX.Element {
  return (
    <PlainPage title={`Owner console of ${props.business}`} icon="approvals">
      <p>This link logs you in once. Afterwards this browser stays logged in for 12 hours.</p>
      <form method="post" action={`/console/login/${encodeURIComponent(props.token)}`}>
        <input type="hidden" name="_csrf" value={props.csrfToken} />
        <button type="submit">Log in</button>
      </form>
    </PlainPage>
  );
}

export function LoggedOutPage({ because }: { because: string }): JSX.Element {
  return (
    <PlainPage title="Please log in" icon="approvals">
      <p safe>{because}</p>
      <p class="quiet">
        The owner console opens with a one-time link. Starting Aroko prints a fresh one; each works once.
      </p>
      <p>
        <a href="/">To the chat</a>
      </p>
    </PlainPage>
  );
}
