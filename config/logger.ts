// The only logger: winston, one JSON object per line. An event has a name and facts: ids, codes, counts, times. Text that
// people or models wrote never gets in. Types can't tell a code from a sentence, so a guard looks at each value: codes hold
// no spaces, and fields that would hold content or secrets are withheld whatever they hold (spec A14).
import { createLogger as createWinston, format, transports, type transport } from 'winston';
import { LOG_LEVELS, type LogLevel } from './environment.js';

export type Fact = string | number | boolean | undefined;
export type Facts = Readonly<Record<string, Fact>>;

export interface Logger {
  /** Something happened that is worth knowing. Names are dotted and stable, such as `turn.prepared`. */
  event(name: string, facts?: Facts): void;
  /** For whoever is looking for a fault; off unless the level says `debug`. */
  debug(name: string, facts?: Facts): void;
  /** Went wrong, and is being dealt with. */
  warn(name: string, facts?: Facts): void;
  /** Went wrong, and somebody should look. */
  error(name: string, facts?: Facts): void;
  /** The same logger with ids that stand in every line: tenant, chat, turn, run. */
  child(ids: Facts): Logger;
}

const MAX_LENGTH = 200;
const WITHHELD = '[withheld]';
const NAME = /^[a-zA-Z][\w.-]{0,80}$/;
const SECRET_KEY =
  /secret|login|token|password|passwd|authorization|cookie|api_?key|credential|private|masterkey/i;
const CONTENT_KEY =
  /^(text|body|content|prompt|message|arguments|args|result|reason|note|reply|answer|phone|email)$/i;
/** A connection URL that carries a password. */
const CREDENTIALS = /:\/\/[^/]*@/;

/** An event has a name and no message; winston only knows messages. */
const asEvent = format((info) => ({ ...info, event: info.message, message: undefined }));

function isCode(value: string): boolean {
  return value.length <= MAX_LENGTH && !/[\s\p{C}]/u.test(value) && !CREDENTIALS.test(value);
}

/**
 * A logger of one process. Without a destination it writes to standard output, which the launcher or the container
 * keeps; the command line's goes to standard error, because its output is its answer.
 */
export function createLogger(options: {
  process: 'worker' | 'gateway' | 'launcher' | 'cli';
  level: LogLevel;
  destination?: transport;
}): Logger {
  const winston = createWinston({
    level: options.level,
    format: format.combine(asEvent(), format.timestamp(), format.json()),
    transports: [options.destination ?? consoleOf(options.process)],
  });
  const withIds = (ids: Facts): Logger => {
    const write =
      (level: LogLevel) =>
      (name: string, facts: Facts = {}): void => {
        winston.log({
          ...guard({ ...ids, ...facts }),
          level,
          message: NAME.test(name) ? name : WITHHELD,
          process: options.process,
        });
      };
    return {
      event: write('info'),
      debug: write('debug'),
      warn: write('warn'),
      error: write('error'),
      child: (more) => withIds({ ...ids, ...more }),
    };
  };
  return withIds({});
}

function consoleOf(name: string): transport {
  return new transports.Console(name === 'cli' ? { stderrLevels: [...LOG_LEVELS] } : {});
}

/**
 * The facts as they may be written: text that is not a code, or that stands under a name of content or secrets, is
 * withheld. Numbers pass whatever they are called: `modelTokens: 312` is a count. A reason of ours is logged as `code`.
 */
export function guard(facts: Facts): Record<string, string | number | boolean> {
  const kept: Record<string, string | number | boolean> = {};
  for (const [key, value] of Object.entries(facts)) {
    if (value === undefined || !NAME.test(key)) continue;
    const isOpen =
      typeof value !== 'string' || (isCode(value) && !SECRET_KEY.test(key) && !CONTENT_KEY.test(key));
    kept[key] = isOpen ? value : WITHHELD;
  }
  return kept;
}

/**
 * What may be logged of an error: its class and its code, never its message, because Prisma, zod and HTTP errors carry
 * values.
 */
export function errorFacts(error: unknown): { errorName: string; errorCode?: string } {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const code = 'code' in error ? error.code : undefined;
  const isUsable = typeof code === 'string' || typeof code === 'number';
  return { errorName: error.name, ...(isUsable ? { errorCode: String(code) } : {}) };
}
