// Approvals: the row decides, the signal wakes (spec F4). REF codes are what a person reads, types and quotes.

export const APPROVAL_STATES = ['open', 'approved', 'rejected', 'expired', 'used', 'edited'] as const;
/** `edited`: over, because its arguments were changed; another approval, with a REF of its own, asks once more. */
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** Throws for a word that the database's own check refuses. */
export function toApprovalState(text: string): ApprovalState {
  const state = APPROVAL_STATES.find((known) => known === text);
  if (state === undefined) throw new Error('an approval is in a state that the migration does not allow');
  return state;
}

export const APPROVAL_SURFACES = ['console', 'api', 'cli', 'temporal', 'whatsapp', 'web'] as const;
export type ApprovalSurface = (typeof APPROVAL_SURFACES)[number];

export type ApprovalDecision = 'approve' | 'reject';

/** What the run sees when it looks at its approval after a bell or at its deadline. */
export type ApprovalSettlement = 'open' | 'approved' | 'rejected' | 'expired';

/** What happens when nobody has answered in time: the customer hears no, or a person takes over. Nothing is ever done. */
export const ON_EXPIRY = ['refuse', 'handOff'] as const;
export type OnExpiry = (typeof ON_EXPIRY)[number];

/** Who decides: an owner by id, or a surface that knows no persons, by its own name. */
export interface Approver {
  surface: ApprovalSurface | 'chat';
  id: string;
}

/** Whoever holds a token or a shell can be anybody: one person could decide there as two. */
const NAMELESS: ReadonlySet<Approver['surface']> = new Set<Approver['surface']>(['api', 'cli', 'temporal']);

/**
 * Whether this approver is among those who are asked. An empty list: every owner, and every surface that policy lists. Where
 * several people have to say yes, only people who have proved who they are count, unless the list itself names the surface.
 */
export function isAsked(
  { approvers, needed }: { approvers: readonly string[]; needed: number },
  { surface, id }: Approver,
): boolean {
  if (surface === 'chat' || approvers.includes(surface)) return true;
  if (needed > 1 && NAMELESS.has(surface)) return false;
  return approvers.length === 0 || approvers.includes(id);
}

/** All that a decision depends on. */
export interface Standing {
  state: ApprovalState;
  /** Epoch milliseconds. */
  expiresAt: number;
  approvers: readonly string[];
  needed: number;
}

/** Why a request takes no answer from this approver, as far as they may hear it. */
export function answerRefusal(
  standing: Standing,
  approver: Approver,
  now: number,
): 'not_asked' | 'expired' | 'edited' | 'already_decided' | undefined {
  // Asked first: what became of a request is not everybody's to know.
  if (!isAsked(standing, approver)) return 'not_asked';
  switch (standing.state) {
    case 'open':
      return standing.expiresAt > now ? undefined : 'expired';
    case 'expired':
    case 'edited':
      return standing.state;
    case 'approved':
    case 'rejected':
    case 'used':
      return 'already_decided';
  }
}

export type Answered =
  | { outcome: 'decided'; state: 'approved' | 'rejected' }
  /** `missing`: how many more have to say yes. */
  | { outcome: 'counted' | 'already_said'; missing: number };

/** What an answer makes of an open request. One no ends it; yeses are counted by person. */
export function answered(
  { needed, yeses }: { needed: number; yeses: ReadonlySet<string> },
  answer: { decision: ApprovalDecision; approverId: string },
): Answered {
  if (answer.decision === 'reject') return { outcome: 'decided', state: 'rejected' };
  if (yeses.has(answer.approverId)) return { outcome: 'already_said', missing: needed - yeses.size };
  const missing = needed - yeses.size - 1;
  return missing > 0 ? { outcome: 'counted', missing } : { outcome: 'decided', state: 'approved' };
}

/** Letters and digits that can't be taken for one another when read aloud or typed from a small screen. */
export const REF_ALPHABET = 'ACDEFGHJKLMNPQRTUVWXY34679';
const REF_PATTERN = /^[A-Z]-[A-Z0-9]{4}$/;

/** Says what is wrong with a REF, or nothing. */
export function refProblem(ref: unknown): string | undefined {
  if (typeof ref !== 'string') return 'a REF is text such as K-7Q4F';
  return REF_PATTERN.test(ref) ? undefined : `"${ref.slice(0, 20)}" is not of the form K-7Q4F`;
}

export interface FoundRef {
  ref: string;
  start: number;
  end: number;
  /** Otherwise it may as well be words: whether such a code exists has to be looked up. */
  isCertain: boolean;
}

/** A letter, a hyphen of any kind (keyboards make dashes of it) or a space, four letters or digits; not inside of a word. */
const REF_IN_TEXT =
  /(?<![\p{L}\p{N}=])([A-Za-z])([\u2010-\u2015\u2212_-]| ?)([A-Za-z0-9]{4})(?![\p{L}\p{N}=])/gu;

/** All that could be a REF in a text, in its order, as people type it: `K-7Q4F`, `k7q4f`, `k 7q4f`. */
export function refsIn(text: string): FoundRef[] {
  return [...text.matchAll(REF_IN_TEXT)].flatMap((match) => {
    const [whole, letter = '', between = '', code = ''] = match;
    const hasDigit = /[0-9]/.test(code);
    // "a dozen", "I went": a letter that stands alone before a word is no code.
    if (between === ' ' && !hasDigit) return [];
    return [
      {
        ref: `${letter}-${code}`.toUpperCase(),
        start: match.index,
        end: match.index + whole.length,
        isCertain: between === '' ? hasDigit : between !== ' ',
      },
    ];
  });
}
