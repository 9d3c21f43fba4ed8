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
    complain('The server can’t be reached. No decision was made.');
});
document.body.addEventListener('htmx:responseError', (event) => {
  const { xhr, requestConfig } = event.detail;
  if (xhr.status === 401) {
    location.assign('/console/login');
    return;
  }
  if (requestConfig.verb !== 'post') return;
  let words = 'That didn’t work. No decision was made.';
  try {
    words = JSON.parse(xhr.responseText).error.message;
  } catch {
    // A page instead of JSON: the sentence above has to do.
  }
  complain(words);
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
