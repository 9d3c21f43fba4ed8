// Small values that several sections share. A check adds what is wrong as the message and what would be right as
// `params.right`, so that every problem can name its remedy.
import { DateTime, IANAZone } from 'luxon';
import { z } from 'zod';
import type { TimeWindow } from '../calendar.js';
import { nearest } from '../suggest.js';

/** A zod check made of a `…Problem` function. */
export function checkedBy<T>(
  problem: (value: T) => { wrong: string; right: string } | undefined,
): z.core.CheckFn<T> {
  return (payload) => {
    const found = problem(payload.value);
    if (found === undefined) return;
    payload.issues.push({
      code: 'custom',
      input: payload.value,
      message: found.wrong,
      params: { right: found.right },
    });
  };
}

/** Text of a certain form, with a sentence about the form; also said to whoever forgot the quotes around a number. */
export function textOfForm(pattern: RegExp, right: string): z.ZodString {
  return z
    .string({ error: right })
    .check(
      checkedBy((value) =>
        pattern.test(value) ? undefined : { wrong: `${JSON.stringify(value)} has the wrong form`, right },
      ),
    )
    .meta({ pattern: pattern.source, description: right });
}

/** What would be right where a secret is named. */
export const SECRET_NAME =
  'the name of a file in the directory of secrets: lower case letters, digits and hyphens';

/** How a schema says that a value names a secret; kept by its JSON Schema, where `secrets.ts` and editors find it. */
export const SECRET_NAME_FORMAT = 'secret-name';

/**
 * The name of a secret. Whoever wrote the secret itself in its place made the one mistake whose message mustn't quote the
 * value.
 */
export const secretName = z
  .string({ error: SECRET_NAME })
  .check(
    checkedBy((value) =>
      /^[a-z][a-z0-9-]{0,63}$/.test(value)
        ? undefined
        : {
            wrong: 'is not the name of a secret (the value itself is never written here)',
            right: SECRET_NAME,
          },
    ),
  )
  .meta({ format: SECRET_NAME_FORMAT, description: SECRET_NAME });

export const text = z.string().trim().min(1).max(4_000);
export const line = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .check(
    checkedBy((value) =>
      value.includes('\n') ? { wrong: 'has more than one line', right: 'one line of text' } : undefined,
    ),
  );

export const toolName = textOfForm(
  /^[a-z][a-z0-9_]{1,63}$/,
  'lower case letters, digits and _, 2 to 64 of them, a letter first: models accept nothing else',
);

export const key = textOfForm(
  /^[a-z][a-z0-9-]{0,63}$/,
  'lower case letters, digits and hyphens, a letter first',
);

export const language = textOfForm(/^[a-z]{2,3}(-[A-Z]{2})?$/, 'a language code such as en, tr or pt-BR');

export const timeZone = z.string().check(
  checkedBy((value) => {
    if (IANAZone.isValidZone(value)) return undefined;
    const near = nearest(value, Intl.supportedValuesOf('timeZone'));
    return {
      wrong: `${JSON.stringify(value)} is not a time zone`,
      right: near === undefined ? 'an IANA name such as Europe/Istanbul' : `did you mean ${near}?`,
    };
  }),
);

export const date = z.string().check(
  checkedBy((value) =>
    /^\d{4}-\d{2}-\d{2}$/.test(value) && DateTime.fromISO(value).isValid
      ? undefined
      : {
          wrong: `${JSON.stringify(value)} is not a date`,
          right: 'a date of the calendar as "2027-01-31"',
        },
  ),
);

const timeOfDay = textOfForm(
  /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/,
  'a time as "09:00", in quotes, 00:00 to 24:00',
);

const window = z
  .strictObject({ from: timeOfDay, to: timeOfDay })
  .check(
    checkedBy(({ from, to }) =>
      from < to
        ? undefined
        : { wrong: `${from} is not before ${to}`, right: 'a window within one day, from before to' },
    ),
  );

/** Windows of one day: in order, none touching another. */
export const windowsOfDay = z
  .array(window)
  .max(12)
  .check(
    checkedBy((windows: TimeWindow[]) => {
      const late = windows.find((next, index) => index > 0 && next.from < (windows[index - 1]?.to ?? ''));
      return late === undefined
        ? undefined
        : {
            wrong: `the window from ${late.from} begins before the one above has ended`,
            right: 'windows in order',
          };
    }),
  );

export const namedWindows = z.record(key, window);
