// What is said to owners, and the words by which they command. Part of config/phrases.ts; the words lie in the phrase files.

const PLAIN = { required: [], optional: [] } as const;
const WITH_REF = { required: ['ref'], optional: [] } as const;

export const OWNER_SENTENCES = {
  /**
   * Asks for an owner's yes. `what` is rendered by the runtime from tool and arguments, `who` is the requester's address,
   * `rule` the policy rule that asks, `silence` what happens without an answer, `change` how a change is typed.
   */
  ownerRequest: {
    required: ['ref', 'what', 'who', 'rule', 'until', 'silence'],
    optional: ['tainted', 'quorum', 'replaces', 'change'],
  },
  ownerReminder: { required: ['request'], optional: [] },
  /** Nobody has answered in time, and policy hands the chat to a person. */
  ownerExpiredNotice: { required: ['ref', 'who'], optional: [] },
  ownerSilenceRefuses: PLAIN,
  ownerSilenceHandsOff: PLAIN,
  ownerTainted: PLAIN,
  /** More than one yes is needed. */
  ownerQuorum: { required: ['needed'], optional: [] },
  /** Stands where a long text was cut. */
  ownerCut: WITH_REF,
  /** Part `part` of `parts` of a long request. */
  ownerPart: { required: ['ref', 'part', 'parts', 'text'], optional: ['next'] },
  ownerButtonApprove: PLAIN,
  ownerButtonReject: PLAIN,

  ownerApproved: WITH_REF,
  /** A yes that isn't enough yet. */
  ownerCounted: { required: ['ref', 'missing'], optional: [] },
  ownerRejected: WITH_REF,
  ownerAlreadySaid: { required: ['ref', 'missing'], optional: [] },
  ownerWasApproved: WITH_REF,
  ownerWasRejected: WITH_REF,
  ownerExpired: WITH_REF,
  ownerReplaced: { required: ['ref', 'newRef'], optional: [] },
  ownerNotAsked: WITH_REF,
  ownerUnknownRef: WITH_REF,
  ownerTooManyCodes: { required: ['minutes'], optional: [] },
  ownerForwarded: PLAIN,
  /** Written in a group. */
  ownerNotHere: PLAIN,
  /** Policy doesn't list this channel. */
  ownerSurfaceClosed: PLAIN,
  ownerNothingOpen: PLAIN,
  ownerWhich: { required: ['list'], optional: [] },
  ownerOneAtATime: PLAIN,
  ownerUnclear: { required: ['ref'], optional: [] },
  ownerUnclearReaction: PLAIN,
  ownerReasonTooLong: { required: ['most'], optional: [] },

  ownerEdited: { required: ['ref', 'newRef'], optional: [] },
  ownerEditHow: { required: ['example'], optional: [] },
  ownerEditUnknownName: { required: ['name', 'names'], optional: [] },
  ownerEditDoubled: { required: ['name'], optional: [] },
  ownerEditInvalid: { required: [], optional: ['name'] },
  ownerEditMissing: { required: ['name'], optional: [] },
  ownerEditSame: WITH_REF,
  ownerEditNotAllowed: WITH_REF,
  ownerEditAlreadyAsked: PLAIN,
  ownerEditGone: WITH_REF,

  ownerList: { required: ['list'], optional: ['more'] },
  /** Effects of which nobody knows whether they happened. */
  ownerListLine: { required: ['ref', 'what', 'who', 'until'], optional: [] },
  ownerListUnknown: { required: ['list'], optional: [] },
  /** Written to owners when it is found that nobody knows whether an effect happened; `what` as in a request. */
  ownerUnknownNotice: { required: ['ref', 'what', 'who'], optional: [] },
  ownerSettledHappened: WITH_REF,
  ownerSettledNotHappened: WITH_REF,
  /** HAPPENED or NOT for something that is known. */
  ownerNotUnknown: WITH_REF,
  ownerHelp: PLAIN,

  /** A customer who types a decision. */
  decisionNotYours: PLAIN,
} as const;

export type OwnerSentenceKey = keyof typeof OWNER_SENTENCES;

/** Words of owners. They count at the beginning of a message, beside a REF, or alone. */
export const OWNER_LISTS = [
  'ownerApprove',
  'ownerReject',
  'ownerEdit',
  'ownerList',
  'ownerShow',
  /** What nobody knew has happened: "happened", "done". */
  'ownerHappened',
  'ownerNotHappened',
  'ownerPause',
  'ownerResume',
  'ownerStatus',
  'ownerTake',
  'ownerRelease',
  'ownerHelp',
  /** May stand beside a command and changes nothing: "please", "thanks". */
  'ownerPolite',
] as const;
