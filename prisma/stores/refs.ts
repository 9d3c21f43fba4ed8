// REF codes: what a person reads, types and quotes. One code means one thing at a time, whatever it is about.
import { randomInt } from 'node:crypto';
import { REF_ALPHABET } from '../../workflows/domain/approval.js';
import type { Scope } from './scope.js';

/** Twenty draws among millions of codes always find a free one, unless something is badly wrong. */
const REF_DRAWS = 20;
const LETTERS = REF_ALPHABET.replace(/\d/g, '');

/** A REF that nothing open has: no approval, no unknown effect, no question to an operator. */
export async function freshRef(scope: Scope): Promise<string> {
  for (let draw = 0; draw < REF_DRAWS; draw++) {
    const letter = LETTERS.charAt(randomInt(LETTERS.length));
    const code = Array.from({ length: 4 }, () => REF_ALPHABET.charAt(randomInt(REF_ALPHABET.length))).join(
      '',
    );
    const ref = `${letter}-${code}`;
    const [taken] = await scope.tx.$queryRaw<unknown[]>`
      select 1 from steps where ref = ${ref} and state = 'unknown'
      union all select 1 from approvals where ref = ${ref} and state = 'open'
      union all select 1 from operator_requests where ref = ${ref} and state = 'open' limit 1`;
    if (taken === undefined) return ref;
  }
  throw new Error('no free REF code was found');
}
