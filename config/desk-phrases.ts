// What people behind the desk are told about chats of theirs. Part of config/phrases.ts; the words lie in the phrase files.

const PLAIN = { required: [], optional: [] } as const;
const WITH_REF = { required: ['ref'], optional: [] } as const;

export const DESK_SENTENCES = {
  /** To the customer: only people do what was asked for, and they have been told. */
  humanOnly: PLAIN,
  /** A matter was handed to people: whose, why (one of the sentences below), and what the customer wrote last. */
  handOffNotice: { required: ['who', 'why'], optional: ['text'] },
  handOffPrivateAccount: PLAIN,
  handOffTransactionalSupport: PLAIN,
  handOffModelCap: PLAIN,
  /** Something that policy leaves to people. */
  handOffHumanOnly: PLAIN,

  /** To an operator. `said`: the conversation, where it goes along. */
  operatorQuestion: { required: ['ref', 'who', 'question', 'until'], optional: ['said'] },
  operatorReminder: WITH_REF,
  operatorThanks: WITH_REF,
  operatorTooLate: WITH_REF,
  operatorAnsweredAlready: WITH_REF,
  operatorNotAsked: WITH_REF,
  operatorUnknownRef: WITH_REF,
  operatorNothingOpen: PLAIN,
  operatorWhich: { required: ['list'], optional: [] },
  /** The code without a word of answer. */
  operatorNoAnswer: WITH_REF,
  /** A voice note or a picture, and what was passed on from somewhere else: neither answers anything. */
  operatorOnlyWritten: WITH_REF,
  operatorForwarded: WITH_REF,
  /** To the customer: that somebody was asked, what they say, and that nobody has answered. */
  operatorAsked: { required: ['operator', 'ref'], optional: [] },
  operatorAnswer: { required: ['answer'], optional: [] },
  operatorNobody: { required: ['operator'], optional: [] },
  /** To the customer: the question never reached whoever was asked. */
  operatorUnreachable: { required: ['operator'], optional: [] },
  /** To owners: the same, with the code of the channel; and an answer that didn't reach a customer. */
  operatorUndelivered: { required: ['ref', 'who', 'operator', 'code'], optional: [] },
  answerUndelivered: { required: ['who', 'code'], optional: ['text'] },

  /** To an owner who commands the desk. */
  deskPaused: PLAIN,
  deskResumed: PLAIN,
  deskStatus: { required: ['approvals', 'messages', 'taken', 'questions'], optional: [] },
  deskStatusPaused: { required: ['approvals', 'messages', 'taken', 'questions'], optional: [] },
  deskWhichChat: PLAIN,
  deskTaken: { required: ['ref'], optional: ['until'] },
  deskReleased: PLAIN,
  deskNothingTaken: PLAIN,
} as const;

export type DeskSentenceKey = keyof typeof DESK_SENTENCES;
