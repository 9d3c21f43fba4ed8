// Approvals: the row decides, the signal wakes (spec F4). REF codes are what a person reads, types and quotes.

export const APPROVAL_STATES = ['open', 'approved', 'rejected', 'expired', 'used'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

export const APPROVAL_SURFACES = ['console', 'api', 'cli', 'temporal', 'whatsapp', 'web'] as const;
export type ApprovalSurface = (typeof APPROVAL_SURFACES)[number];

export type ApprovalDecision = 'approve' | 'reject';

/** What the run sees when it looks at its approval after a bell or at its deadline. */
export type ApprovalSettlement = 'open' | 'approved' | 'rejected' | 'expired';

/** Letters and digits that can't be taken for one another when read aloud or typed from a small screen. */
export const REF_ALPHABET = 'ACDEFGHJKLMNPQRTUVWXY34679';
const REF_PATTERN = /^[A-Z]-[A-Z0-9]{4}$/;

/** Says what is wrong with a REF, or nothing. */
export function refProblem(ref: unknown): string | undefined {
  if (typeof ref !== 'string') return 'a REF is text such as K-7Q4F';
  return REF_PATTERN.test(ref) ? undefined : `"${ref.slice(0, 20)}" is not of the form K-7Q4F`;
}
