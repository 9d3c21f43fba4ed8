// States as a word, a colour and a sign: never by colour alone.

/** What a state means to whoever looks. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'quiet';

interface Look {
  word: string;
  tone: Tone;
}

const RUN_STATES: Record<string, Look> = {
  detecting: { word: 'Looking for a tool', tone: 'busy' },
  planning: { word: 'Planning', tone: 'busy' },
  validating: { word: 'Checking', tone: 'busy' },
  waiting: { word: 'Waiting for you', tone: 'wait' },
  executing: { word: 'Carrying out', tone: 'busy' },
  summarizing: { word: 'Writing the answer', tone: 'busy' },
  succeeded: { word: 'Finished', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  refused: { word: 'Not done', tone: 'quiet' },
  asked: { word: 'Asked back', tone: 'quiet' },
  no_tool: { word: 'Answered in chat', tone: 'quiet' },
  already_open: { word: 'Already running', tone: 'quiet' },
  unknown: { word: 'Unknown outcome', tone: 'bad' },
};

const STEP_STATES: Record<string, Look> = {
  proposed: { word: 'Proposed', tone: 'busy' },
  accepted: { word: 'Accepted', tone: 'busy' },
  rejected: { word: 'Not allowed', tone: 'quiet' },
  started: { word: 'Under way', tone: 'busy' },
  succeeded: { word: 'Carried out', tone: 'good' },
  declined: { word: 'Tried, and not possible', tone: 'wait' },
  failed: { word: 'Failed', tone: 'bad' },
  refused: { word: 'Not done', tone: 'quiet' },
  unknown: { word: 'Unknown outcome', tone: 'bad' },
};

const APPROVAL_STATES: Record<string, Look> = {
  open: { word: 'Waiting for you', tone: 'wait' },
  approved: { word: 'Approved', tone: 'good' },
  used: { word: 'Approved', tone: 'good' },
  rejected: { word: 'Rejected', tone: 'bad' },
  expired: { word: 'Expired', tone: 'quiet' },
  edited: { word: 'Changed', tone: 'quiet' },
};

const OUTBOX_STATES: Record<string, Look> = {
  planned: { word: 'To be sent', tone: 'busy' },
  sending: { word: 'Sending', tone: 'busy' },
  sent: { word: 'Sent', tone: 'good' },
  failed: { word: 'Not sent', tone: 'bad' },
  unknown: { word: 'Unknown outcome', tone: 'bad' },
  discarded: { word: 'Held back', tone: 'quiet' },
};

const LOOKS = { run: RUN_STATES, step: STEP_STATES, approval: APPROVAL_STATES, outbox: OUTBOX_STATES };

const SIGNS: Record<Tone, string> = { good: '✓', busy: '●', wait: '◔', bad: '!', quiet: '–' };

/** The states of runs, in the order in which a run has them. */
export function runStates(): { state: string; word: string }[] {
  return Object.entries(RUN_STATES).map(([state, { word }]) => ({ state, word }));
}

export function State({ of, state }: { of: keyof typeof LOOKS; state: string }): JSX.Element {
  const look = LOOKS[of][state] ?? { word: state, tone: 'quiet' };
  return <Badge tone={look.tone} word={look.word} />;
}

export function Badge({ tone, word }: { tone: Tone; word: string }): JSX.Element {
  return (
    <span class={['state', tone]}>
      <span class="sign" aria-hidden="true" safe>
        {SIGNS[tone]}
      </span>
      <span safe>{word}</span>
    </span>
  );
}
