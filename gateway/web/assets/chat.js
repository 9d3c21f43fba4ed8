// The chat page: sends, shows at once what was sent, and follows the conversation. Bubbles are made by the server; this
// script only places them, so there is one way to render (and to escape) a message.

const log = document.getElementById('log');
const scroller = document.getElementById('scroller');
const form = document.getElementById('composer');
const text = document.getElementById('text');
const sendButton = form.querySelector('button');
const progress = document.getElementById('progress');
const progressText = document.getElementById('progress-text');
const connection = document.getElementById('connection');
const toEnd = document.getElementById('to-end');
const template = document.getElementById('bubble');
const calm = connection.textContent;
// A customer's chat, or an owner's own: where it lives on this server, and what proves that this page wrote.
const { base, csrf } = log.dataset;

// Where the reader is -------------------------------------------------------------------------------------------------

const NEAR_END_PX = 120;
const isNearEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_END_PX;
const goToEnd = () => scroller.scrollTo({ top: scroller.scrollHeight });

/** Changes the log without moving a reader who has scrolled up. */
function keepingPlace(change) {
  const follow = isNearEnd();
  change();
  if (follow) goToEnd();
  else toEnd.hidden = false;
}

scroller.addEventListener('scroll', () => {
  if (isNearEnd()) toEnd.hidden = true;
});
toEnd.addEventListener('click', goToEnd);

// What comes ------------------------------------------------------------------------------------------------------------

function bubbleOf(id) {
  return log.querySelector(`.bubble[data-id="${CSS.escape(id)}"]`);
}

function place({ id, sequence, day, html }) {
  document.getElementById('welcome')?.remove();
  const holder = document.createElement('template');
  holder.innerHTML = html;
  const bubble = holder.content.firstElementChild;
  const known = bubbleOf(id);
  if (known && known.dataset.sequence === String(sequence)) {
    // Only its state has changed: a screen reader needn't hear it again.
    known.replaceWith(bubble);
    return;
  }
  known?.remove();
  const later = [...log.querySelectorAll('.bubble')].find(
    (one) => one.dataset.sequence === undefined || Number(one.dataset.sequence) > sequence,
  );
  log.insertBefore(bubble, later ?? null);
  separate(bubble, day);
}

/** The day stands above its first message. */
function separate(bubble, day) {
  if (log.querySelector(`[data-separator="${CSS.escape(day)}"]`)) return;
  const line = document.createElement('div');
  line.className = 'day';
  line.dataset.separator = day;
  const word = document.createElement('span');
  word.textContent = day;
  line.append(word);
  log.insertBefore(line, bubble);
}

const PROGRESS_WORDS = { writing: '', working: 'Still on it. The answer will appear here.' };

function showProgress(state) {
  keepingPlace(() => {
    progress.hidden = state === 'idle';
    progressText.textContent = PROGRESS_WORDS[state] ?? '';
    progress.setAttribute('aria-label', state === 'writing' ? 'The assistant is writing' : '');
  });
}

const events = new EventSource(`${base}/events?after=${encodeURIComponent(log.dataset.cursor)}`);
events.addEventListener('message', (event) => keepingPlace(() => place(JSON.parse(event.data))));
events.addEventListener('progress', (event) => showProgress(event.data));
events.addEventListener('open', () => {
  connection.textContent = calm;
  connection.classList.remove('lost');
});
events.addEventListener('error', () => {
  connection.textContent = 'Connection lost. Trying again…';
  connection.classList.add('lost');
});

// What goes -------------------------------------------------------------------------------------------------------------

/** Sending the same id again is safe: the server keeps one. */
async function send(id, body, bubble) {
  const note = bubble.querySelector('.delivery');
  bubble.dataset.state = 'sending';
  note.textContent = 'sending…';
  let problem;
  try {
    const response = await fetch(`${base}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(csrf && { 'x-csrf-token': csrf }) },
      body: JSON.stringify({ id, text: body }),
    });
    if (response.ok) {
      bubble.dataset.state = 'sent';
      note.textContent = '✓ delivered';
      return;
    }
    const answer = await response.json().catch(() => undefined);
    problem = answer?.error?.message ?? 'The server could not take it.';
  } catch {
    problem = 'No connection.';
  }
  bubble.dataset.state = 'failed';
  note.textContent = `Not sent. ${problem} `;
  const again = document.createElement('button');
  again.type = 'button';
  again.className = 'again';
  again.textContent = 'Try again';
  again.addEventListener('click', () => send(id, body, bubble), { once: true });
  note.append(again);
}

/** 128 random bits. Not `randomUUID`: browsers offer that on secure origins only. */
function freshId() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

function say(body) {
  document.getElementById('welcome')?.remove();
  const id = freshId();
  const bubble = template.content.firstElementChild.cloneNode(true);
  bubble.dataset.id = id;
  bubble.querySelector('p').textContent = body;
  log.append(bubble);
  goToEnd();
  void send(id, body, bubble);
}

function fit() {
  sendButton.disabled = text.value.trim() === '';
  text.style.height = 'auto';
  text.style.height = `${Math.min(text.scrollHeight, 160)}px`;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const body = text.value.trim();
  if (body === '') return;
  text.value = '';
  fit();
  text.focus();
  say(body);
});
text.addEventListener('input', fit);
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
log.addEventListener('click', (event) => {
  const chip = event.target.closest('[data-example]');
  if (chip) {
    say(chip.dataset.example);
    text.focus();
  }
});

fit();
goToEnd();
