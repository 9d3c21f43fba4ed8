// What the console does beyond htmx: notices that leave by themselves, and an honest word when the server is away.

const NOTICE_MS = 8_000;
let hideLater;

function notice() {
  return document.getElementById('notice');
}

document.body.addEventListener('htmx:oobAfterSwap', () => {
  clearTimeout(hideLater);
  hideLater = setTimeout(() => {
    const shown = notice();
    if (shown) shown.hidden = true;
  }, NOTICE_MS);
});

function complain(words) {
  const shown = notice();
  if (!shown) return;
  shown.className = 'notice bad';
  shown.textContent = words;
  shown.hidden = false;
}

// A background refresh that fails is tried again anyway; an owner's own action needs an answer.
document.body.addEventListener('htmx:sendError', (event) => {
  if (event.detail.requestConfig.verb === 'post')
    complain('The server can’t be reached. No change was made.');
});
document.body.addEventListener('htmx:responseError', (event) => {
  const { xhr, requestConfig } = event.detail;
  if (xhr.status === 401) {
    location.assign('/console/login');
    return;
  }
  if (requestConfig.verb !== 'post') return;
  let words = 'That didn’t work. No change was made.';
  try {
    words = JSON.parse(xhr.responseText).error.message;
  } catch {
    // A page instead of JSON: the sentence above has to do.
  }
  complain(words);
});

// A question that somebody has opened on the controls stays until it is answered or closed: a refresh would swallow the press.
document.body.addEventListener('htmx:beforeSwap', (event) => {
  const { requestConfig, target } = event.detail;
  if (requestConfig?.verb !== 'get' || target?.id !== 'controls') return;
  if (target.querySelector('details[open]')) event.detail.shouldSwap = false;
});

// What was pressed is gone when its answer comes: the keyboard goes on from the answer, not from the top of the page.
document.body.addEventListener('htmx:afterSettle', (event) => {
  const { requestConfig, target } = event.detail;
  const pressed = requestConfig?.triggeringEvent?.submitter?.id;
  if (requestConfig?.verb !== 'post' || !target?.id) return;
  const shown = document.getElementById(target.id);
  if (!shown || shown.contains(document.activeElement)) return;
  const again = pressed ? document.getElementById(pressed) : null;
  const place = shown.querySelector('[aria-invalid="true"]') ?? (shown.contains(again) ? again : shown);
  place.focus({ preventScroll: place === shown });
});

// On a phone the box opens near the bottom bar: it scrolls clear, with its button.
document.addEventListener(
  'toggle',
  (event) => {
    if (event.target.matches?.('details.reject[open]')) event.target.scrollIntoView({ block: 'center' });
  },
  true,
);

// An open box for a reason belongs to the person who is typing in it: Escape closes it.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  const box = document.activeElement?.closest('details.reject');
  if (!box) return;
  box.open = false;
  box.querySelector('summary').focus();
});

// "/" goes to the search, as in other tools; on a phone there is no box in the frame, and no such key either.
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, textarea, select, [contenteditable]')) return;
  const box = [...document.querySelectorAll('input[type="search"]')].find((one) => one.offsetParent !== null);
  if (!box) return;
  event.preventDefault();
  box.focus();
});

// A part that can't be fetched stays as it was: that is said, once, and taken back when it can.
let isStale = false;
const isRefresh = ({ requestConfig }) => requestConfig.verb === 'get';
function stale(event) {
  if (!isRefresh(event.detail) || event.detail.xhr?.status === 401) return;
  isStale = true;
  complain('The server can’t be reached just now. What is shown may be old.');
}
document.body.addEventListener('htmx:sendError', stale);
document.body.addEventListener('htmx:responseError', stale);
document.body.addEventListener('htmx:afterOnLoad', (event) => {
  if (!isStale || !isRefresh(event.detail) || event.detail.xhr.status >= 400) return;
  isStale = false;
  const shown = notice();
  if (shown) shown.hidden = true;
});
