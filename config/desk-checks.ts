// The desk's own rules, checked against one another: what is said first, when people are there, how long is waited.
import { WEEKDAYS, type TimeWindow, type Weekday } from './calendar.js';
import type { Explained } from './schema/explain.js';
import type { ReadSections } from './schema/sections.js';

/** Problems of first message, forwarding, shift, and of waiting times that don't fit together. */
export function deskProblems(sections: ReadSections): Explained[] {
  return [
    ...firstMessageProblems(sections),
    ...forwardingProblems(sections),
    ...shiftProblems(sections),
    ...waitingProblems(sections),
  ];
}

function firstMessageProblems({ assistant, business }: ReadSections): Explained[] {
  const texts = assistant?.firstMessage;
  if (assistant === undefined || texts === undefined) return [];
  const problems = Object.keys(texts)
    .filter((language) => !assistant.languages.includes(language))
    .map((language): Explained => ({
      path: ['assistant', 'firstMessage', language],
      wrong: `"${language}" is not a language of the assistant`,
      right: `one of ${assistant.languages.join(', ')}, or one more in assistant.languages`,
    }));
  // Said in the business's language to whoever hasn't shown another one.
  if (business !== undefined && !Object.hasOwn(texts, business.language)) {
    problems.push({
      path: ['assistant', 'firstMessage', business.language],
      wrong: 'is missing, and it is what somebody hears whose language is not known yet',
      right: `a sentence in "${business.language}", the language of the business`,
    });
  }
  return problems;
}

function forwardingProblems({ forwarding }: ReadSections): Explained[] {
  if (forwarding?.remindAfterMinutes === undefined) return [];
  const { remindAfterMinutes: remind, expiresAfterMinutes: expire } = forwarding;
  if (remind < expire) return [];
  return [
    {
      path: ['forwarding', 'remindAfterMinutes'],
      wrong: `the reminder after ${remind} minutes comes when the question has expired (${expire})`,
      right: `less than ${expire}, or no reminder`,
    },
  ];
}

const MINUTES_OF_DAY = 24 * 60;

function shiftProblems({ shift }: ReadSections): Explained[] {
  if (shift === undefined) return [];
  const days = WEEKDAYS.flatMap((day) => {
    const windows = shift.staffed[day];
    return windows === undefined ? [] : [{ day, windows }];
  });
  const problems = days.flatMap(({ day, windows }) => windowProblems(day, windows));
  if (shift.enabled && !days.some(({ windows }) => windows.length > 0)) {
    problems.push({
      path: ['shift', 'staffed'],
      wrong: 'nobody is ever at the desk, so the schedule would change nothing',
      right: 'the hours of at least one day, or enabled: false',
    });
  }
  // A window that has no length can't be compared with its neighbours.
  return problems.length > 0 ? problems : overlapProblems(days);
}

function windowProblems(day: Weekday, windows: readonly TimeWindow[]): Explained[] {
  return windows.flatMap(({ from, to }, index) =>
    from === to && from !== '00:00'
      ? [
          {
            path: ['shift', 'staffed', day, index],
            wrong: `the window from ${from} to ${to} is empty`,
            right: 'two different times; the whole day is 00:00 to 00:00',
          },
        ]
      : [],
  );
}

/** Windows of the whole week on one line of minutes, in order; an overnight one reaches into the next day. */
function overlapProblems(days: { day: Weekday; windows: readonly TimeWindow[] }[]): Explained[] {
  const spans = days.flatMap(({ day, windows }) =>
    windows.map(({ from, to }, index) => {
      const start = WEEKDAYS.indexOf(day) * MINUTES_OF_DAY + minutesOf(from);
      const length = (minutesOf(to) - minutesOf(from) + MINUTES_OF_DAY) % MINUTES_OF_DAY || MINUTES_OF_DAY;
      return { path: ['shift', 'staffed', day, index], day, from, to, start, end: start + length };
    }),
  );
  return spans.flatMap((span, index) => {
    const before = spans[index - 1] ?? spans.at(-1);
    if (before === undefined || before === span) return [];
    // The week is a circle: what begins on its last evening may end on its first morning.
    const end = index === 0 ? before.end - 7 * MINUTES_OF_DAY : before.end;
    if (span.start >= end) return [];
    return [
      {
        path: span.path,
        wrong: `the window from ${span.from} begins before the one of ${before.day} ${before.from} to ${before.to} has ended`,
        right:
          'windows in order, none inside another; one whose end is not after its beginning ends on the next day',
      },
    ];
  });
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** A decision that is forgotten before its approval can be given would make the yes worthless. */
function waitingProblems({ limits, policy }: ReadSections): Explained[] {
  if (limits === undefined || policy === undefined) return [];
  const waits = [
    { path: ['policy', 'approvalMinutes'], minutes: policy.approvalMinutes },
    { path: ['policy', 'confirmMinutes'], minutes: policy.confirmMinutes },
    ...policy.rules.flatMap(({ expiresAfterMinutes }, index) =>
      expiresAfterMinutes === undefined
        ? []
        : [{ path: ['policy', 'rules', index, 'expiresAfterMinutes'], minutes: expiresAfterMinutes }],
    ),
  ];
  return waits.flatMap(({ path, minutes }) =>
    minutes <= limits.decisionMinutes
      ? []
      : [
          {
            path,
            wrong: `${minutes} minutes are longer than a decision is kept (limits.decisionMinutes: ${limits.decisionMinutes})`,
            right: `at most ${limits.decisionMinutes}, or a larger limits.decisionMinutes`,
          },
        ],
  );
}
