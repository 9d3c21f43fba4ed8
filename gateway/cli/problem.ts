// Why a command can't do what it was asked to, in words for whoever typed it, and the code it ends with.
import { EnvironmentError } from '../../config/environment.js';
import { ConfigurationError, EXIT_CONFIGURATION } from '../../config/problems.js';
import { MasterKeyFileError } from '../../prisma/keys.js';
import { isDatabaseAway } from '../problems.js';

/** 0: done. 1: the answer is no, or something is away. 78: a setting has to be mended first, trying again can't help. */
export const EXIT_NO = 1;

/** The message is shown as it is. `isSetting`: a setting is wrong or missing, and the command ends with 78. */
export class CommandProblem extends Error {
  override readonly name = 'CommandProblem';
  readonly isSetting: boolean;

  constructor(message: string, { isSetting = false }: { isSetting?: boolean } = {}) {
    super(message);
    this.isSetting = isSetting;
  }
}

/** What stderr says of anything that was thrown. Messages of libraries stay out: they may carry values. */
export function explained(
  error: unknown,
  where: { postgres?: string | undefined; hint?: string | undefined } = {},
): { message: string; exitCode: number } {
  if (error instanceof CommandProblem) {
    return { message: error.message, exitCode: error.isSetting ? EXIT_CONFIGURATION : EXIT_NO };
  }
  const isSetting = [ConfigurationError, EnvironmentError, MasterKeyFileError].some(
    (type) => error instanceof type,
  );
  if (isSetting && error instanceof Error) return { message: error.message, exitCode: EXIT_CONFIGURATION };
  const at = where.postgres === undefined ? '' : ` at ${where.postgres}`;
  if (isPasswordWrong(error)) {
    return { message: `Postgres${at} refuses the password of our role.`, exitCode: EXIT_CONFIGURATION };
  }
  if (isDatabaseAway(error)) {
    const hint = where.hint === undefined ? '' : ` ${where.hint}`;
    return { message: `Postgres${at} can’t be reached.${hint}`, exitCode: EXIT_NO };
  }
  const name = error instanceof Error ? error.name : typeof error;
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
  return { message: `Something went wrong that nobody foresaw: ${name}${code}.`, exitCode: EXIT_NO };
}

/** Codes of Prisma and of Postgres for a role that can't log in. */
const REFUSED = new Set(['P1000', '28P01', '28000']);

function isPasswordWrong(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  if ('code' in error && typeof error.code === 'string' && REFUSED.has(error.code)) return true;
  if ('kind' in error && error.kind === 'AuthenticationFailed') return true;
  const inside = [
    'cause' in error ? error.cause : undefined,
    'meta' in error ? error.meta : undefined,
    'driverAdapterError' in error ? error.driverAdapterError : undefined,
  ];
  return inside.some((part) => isPasswordWrong(part, depth + 1));
}
