// What an operator writes: the answer to a question that was forwarded to them, named by its code or by quoting it. Inside the
// turn's transaction, so that it is durable and reaches the customer once. The customer hears it from the assistant.
import {
  answerRequest,
  openRequestsOf,
  planUnreachedAgain,
  REQUEST_ORIGINS,
  requestById,
  requestByRef,
  requestOfMessage,
  type OperatorRequest,
} from '../../prisma/stores/operator-requests.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import { commandDetails } from '../../prisma/stores/owner-chats.js';
import { isWritten } from '../../prisma/stores/turns.js';
import { refsIn } from '../../workflows/domain/approval.js';
import type { Bell } from '../../workflows/domain/turn.js';
import { say } from '../sentences.js';
import type { ArrivalHandler } from '../turns/arrivals.js';
import type { GateOutcome, TurnContext } from '../turns/turn-context.js';

type Found = { request: OperatorRequest } | { problem: string };

export const answerAsOperator: ArrivalHandler = async (turn) => {
  const operatorId = operatorOf(turn);
  const outcome = await answerFrom(turn, operatorId);
  // Whoever writes can be sent pictures again; what they have just answered needs none. The sweep hands them over.
  if (operatorId !== undefined)
    await planUnreachedAgain(turn.scope, { chatId: turn.chat.chatId, operatorId });
  return outcome;
};

function operatorOf({ messages }: TurnContext): string | undefined {
  const speaker = messages.at(-1)?.speaker ?? '';
  return speaker.startsWith('operator:') ? speaker.slice('operator:'.length) : undefined;
}

async function answerFrom(
  turn: TurnContext,
  operatorId: string | undefined,
): Promise<GateOutcome | undefined> {
  const { tenant, messages } = turn;
  const message = messages.at(-1);
  const speaker = message?.speaker ?? '';
  // Somebody on the shop's own phone may answer for whoever was asked, when the code names an open question.
  const isOurPhone = speaker === 'business';
  if (!message || (operatorId === undefined && !isOurPhone)) return undefined;
  const found = await findRequest(turn, operatorId, message.quotedExternalId);
  if ('problem' in found) return isOurPhone ? undefined : answer(found.problem);
  const { request } = found;
  const ref = request.ref;
  if (operatorId !== undefined && request.operatorId !== operatorId) {
    return answer(say(tenant, 'operatorNotAsked', { ref }));
  }
  const { kind, isForwarded } = await commandDetails(turn.scope, message.messageId);
  // The customer gets words: a voice note or a picture would be lost on the way. What somebody else has written is no answer.
  if (!isWritten(kind)) return answer(say(tenant, 'operatorOnlyWritten', { ref }));
  if (isForwarded) return answer(say(tenant, 'operatorForwarded', { ref }));
  const text = withoutRef(turn.text, ref);
  if (text === '') return answer(say(tenant, 'operatorNoAnswer', { ref }));
  if (!(await answerRequest(turn.scope, { request, messageId: message.messageId, by: speaker }))) {
    return answer(
      say(tenant, request.state === 'answered' ? 'operatorAnsweredAlready' : 'operatorTooLate', { ref }),
    );
  }
  const bell = await tellCustomer(turn, request, text);
  return answer(say(tenant, 'operatorThanks', { ref }), bell);
}

async function findRequest(
  { scope, tenant, chat, text }: TurnContext,
  operatorId: string | undefined,
  quotedExternalId: string | undefined,
): Promise<Found> {
  for (const { ref } of refsIn(text)) {
    const request = await requestByRef(scope, ref);
    if (request) return { request };
  }
  const quoted =
    quotedExternalId === undefined
      ? undefined
      : await requestOfMessage(scope, { chatId: chat.chatId, externalId: quotedExternalId });
  const request = quoted === undefined ? undefined : await requestById(scope, quoted);
  if (request) return { request };
  const [named] = refsIn(text).filter(({ isCertain }) => isCertain);
  if (named) return { problem: say(tenant, 'operatorUnknownRef', { ref: named.ref }) };
  // Whoever has several questions open must say which one is meant; a guess would tell one customer another's answer.
  const open = operatorId === undefined ? [] : await openRequestsOf(scope, operatorId);
  const list = open.map(({ ref }) => ref).join(', ');
  return {
    problem: open.length === 0 ? say(tenant, 'operatorNothingOpen') : say(tenant, 'operatorWhich', { list }),
  };
}

async function tellCustomer(
  { scope, tenant }: TurnContext,
  request: OperatorRequest,
  text: string,
): Promise<Bell> {
  const { chatId, contactId, requestId } = request;
  const { outboxId } = await planMessage(scope, {
    chatId,
    contactId,
    turnId: null,
    origin: { kind: REQUEST_ORIGINS.answer, id: requestId },
    kind: 'answer',
    text: say(tenant, 'operatorAnswer', { answer: text }),
    details: { isVerbatim: true, purpose: 'lateAnswer' },
  });
  // It answers no turn of that chat, so it is rung for under its own id.
  return { kind: 'say', chatId, turnId: outboxId, outboxId, sayKind: 'answer', final: true };
}

/** What the operator says, without the code that it is about. */
function withoutRef(text: string, ref: string): string {
  const found = refsIn(text).find((each) => each.ref === ref);
  if (!found) return text.trim();
  return `${text.slice(0, found.start)}${text.slice(found.end)}`.replace(/^[\s:,.–—-]+/, '').trim();
}

function answer(text: string, ...bells: Bell[]): GateOutcome {
  return {
    kind: 'fixed',
    as: 'answer',
    text,
    because: 'an operator’s reply',
    ...(bells.length > 0 && { bells }),
  };
}
