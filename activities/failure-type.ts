// Whether a foreign error is Postgres being away, or something of ours being broken. Classes of Prisma and the driver share
// no base, and a connection that breaks is a plain `Error`: names, codes and words are what they have in common.
import { FAILURE_TYPES, type FailureType } from '../workflows/domain/failures.js';

const CLASS_NAMES = /^PrismaClient|^DriverAdapter|^DatabaseError/;
/** Connection exceptions, admin shutdown, crash recovery, lost races. */
const CODES = /^(ECONN\w+|EPIPE|ETIMEDOUT|08\w{3}|57P0\d|40001|40P01|53\d{3})$/;
const WORDS = /connection (error|terminated|timeout|ended|closed)|not queryable|server closed/i;

/** The message is only looked at; it goes nowhere. */
export function failureTypeOf(error: unknown): FailureType {
  if (!(error instanceof Error)) return FAILURE_TYPES.internal;
  const code = 'code' in error ? String(error.code) : '';
  const isDatabase = CLASS_NAMES.test(error.name) || CODES.test(code) || WORDS.test(error.message);
  return isDatabase ? FAILURE_TYPES.database : FAILURE_TYPES.internal;
}
