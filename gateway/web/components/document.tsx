// The frame of every page: head, styles, scripts. Everything comes from this server; no page needs another host.
import { Html, type Children } from '@kitajs/html';

export interface DocumentProps {
  title: string;
  /** On the body: which layout the stylesheet applies. */
  layout: 'chat' | 'console' | 'plain';
  /** Script modules below /assets. */
  scripts?: string[];
  /** Pages that change by htmx. */
  htmx?: { csrfToken: string; events: string };
  children: Children;
}

/** No styles are injected and nothing is evaluated: the content security policy forbids both. */
const HTMX_CONFIG = JSON.stringify({ includeIndicatorStyles: false, allowEval: false, historyCacheSize: 0 });

export function Document({ title, layout, scripts = [], htmx, children }: DocumentProps): JSX.Element {
  const events = htmx && { 'hx-ext': 'sse', 'sse-connect': htmx.events };
  const headers = htmx && { 'hx-headers': JSON.stringify({ 'x-csrf-token': htmx.csrfToken }) };
  return (
    <>
      {'<!doctype html>'}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta
            name="viewport"
            content="width=device-width, initial-scale=1, interactive-widget=resizes-content"
          />
          <meta name="color-scheme" content="light dark" />
          <meta name="robots" content="noindex" />
          {htmx ? <meta name="htmx-config" content={HTMX_CONFIG} /> : null}
          <title safe>{title}</title>
          <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
          <link rel="stylesheet" href="/assets/pico.css" />
          <link rel="stylesheet" href="/assets/style.css" />
          {htmx ? (
            <>
              <script src="/assets/htmx.js" defer></script>
              <script src="/assets/htmx-sse.js" defer></script>
            </>
          ) : null}
          {scripts.map((name) => (
            <script src={`/assets/${Html.escapeHtml(name)}`} type="module"></script>
          ))}
        </head>
        <body class={layout} {...events} {...headers}>
          {children}
        </body>
      </html>
    </>
  );
}
