// Questions to people behind the desk (spec B5, B12). What they get is put together by the runtime: what the customer wrote
// and sent, and under whose code the answer is expected. Their answer comes back as a message of theirs (activities/operators).
//
// Operations and their arguments:
//   forwardToOperator     question, operator?   with the media that the customer has sent since the last time
//   forwardConversation   question, operator?   with the last messages of both sides
import { DateTime } from 'luxon';
import type { Operator, TenantConfiguration } from '../../config/configuration.js';
import { recentUtterances } from '../../prisma/stores/history.js';
import {
  mediaToForward,
  openRequest,
  plannedWordsOf,
  REQUEST_ORIGINS,
  requestOfStep,
  type OperatorRequest,
} from '../../prisma/stores/operator-requests.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import { chatOfPhone } from '../../prisma/stores/owner-chats.js';
import type { InScope, Scope } from '../../prisma/stores/scope.js';
import { addressesOf } from '../../prisma/stores/views/addresses.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import { withHiddenShown } from '../../workflows/domain/visible-text.js';
import { say } from '../sentences.js';
import { ToolCallError, type ToolCall, type ToolOperation, type ToolProvider } from './provider.js';

/** A picture from last week belongs to another matter. */
const MEDIA_SINCE_MS = 24 * 3_600_000;
/** Everything that was said: no turn is left out, and no message is too new. */
const NO_TURN = '00000000-0000-0000-0000-000000000000';
const ALL = 2_147_483_647;
/** A question is read on a phone. */
const SHOWN_CHARACTERS = 3_000;

export function createOperators({ inScope }: { inScope: InScope }): ToolProvider {
  const didItHappen = (call: ToolCall): Promise<JsonObject | false> =>
    inScope(call.tenantId, async (scope) => {
      const request = await requestOfStep(scope, call.stepId);
      return request ? resultOf(call, request) : false;
    });
  const wordsOf: ToolOperation['wordsOf'] = ({ tenantId, stepId }) =>
    inScope(tenantId, (scope) => plannedWordsOf(scope, stepId));
  return {
    // Only a code and a name come back; what the operator answers is a message of its own.
    resultsAreUntrusted: false,
    operations: {
      forwardToOperator: {
        call: (call) => inScope(call.tenantId, (scope) => forward(scope, call, 'media')),
        didItHappen,
        wordsOf,
      },
      forwardConversation: {
        call: (call) => inScope(call.tenantId, (scope) => forward(scope, call, 'conversation')),
        didItHappen,
        wordsOf,
      },
    },
  };
}

async function forward(scope: Scope, call: ToolCall, kind: OperatorRequest['kind']): Promise<JsonObject> {
  const { configuration, chatId, contactId, turnId, stepId } = call;
  const operator = operatorOf(call);
  const account = await accountOf(scope, configuration, chatId);
  const [number] = operator.addresses.whatsapp;
  const operatorsChat =
    account && number !== undefined
      ? await chatOfPhone(scope, {
          channel: 'whatsapp-cloud',
          accountKey: account,
          address: number.replace(/^\+/, ''),
        })
      : undefined;
  // Nobody could ever read the question: said at once, and nothing is promised.
  if (operatorsChat === undefined) throw new ToolCallError('clean');
  const { expiresAfterMinutes, remindAfterMinutes } = configuration.forwarding;
  const now = Date.now();
  const media =
    kind === 'media'
      ? await mediaToForward(scope, {
          chatId,
          operatorId: operator.id,
          since: new Date(now - MEDIA_SINCE_MS),
          limit: configuration.providers.operators?.media ?? 0,
        })
      : [];
  const { request, isNew } = await openRequest(scope, {
    chatId,
    contactId,
    turnId,
    stepId,
    operatorId: operator.id,
    kind,
    expiresAt: new Date(now + expiresAfterMinutes * 60_000),
    ...(remindAfterMinutes !== undefined && { remindAt: new Date(now + remindAfterMinutes * 60_000) }),
  });
  if (isNew) {
    const said = kind === 'conversation' ? await conversationOf(scope, call) : '';
    const text = await questionText(scope, call, { request, said });
    const common = { chatId: operatorsChat, contactId, turnId: null, kind: 'acknowledgement' as const };
    await planMessage(scope, {
      ...common,
      origin: { kind: REQUEST_ORIGINS.question, id: request.requestId },
      text,
      details: { isVerbatim: true, purpose: 'operatorRequest' },
    });
    for (const [index, mediaMessageId] of media.entries()) {
      await planMessage(scope, {
        ...common,
        origin: { kind: REQUEST_ORIGINS.question, id: request.requestId, ordinal: index + 1 },
        // The code stands under each picture: whichever is quoted, it says what the answer is about.
        text: request.ref,
        details: { isVerbatim: true, mediaMessageId },
      });
    }
  }
  return resultOf(call, request);
}

function operatorOf({ configuration, arguments: values }: ToolCall): Operator {
  const { operators, providers } = configuration;
  const named = typeof values['operator'] === 'string' ? values['operator'] : providers.operators?.usually;
  const operator = named === undefined ? operators[0] : operators.find(({ id }) => id === named);
  if (!operator) throw new ToolCallError('clean');
  return operator;
}

/** The number that the question is sent from: the customer's own, else the first. */
async function accountOf(
  scope: Scope,
  { channels }: TenantConfiguration,
  chatId: string,
): Promise<string | undefined> {
  const { account } = await scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    select: { account: { select: { accountKey: true } } },
  });
  const own = channels.whatsapp.find(({ accountKey }) => accountKey === account.accountKey);
  return (own ?? channels.whatsapp[0])?.accountKey;
}

async function questionText(
  scope: Scope,
  { configuration, chatId, arguments: values }: ToolCall,
  { request, said }: { request: OperatorRequest; said: string },
): Promise<string> {
  const who = (await addressesOf(scope, [chatId])).get(chatId);
  const question = typeof values['question'] === 'string' ? values['question'] : '';
  const text = say({ configuration }, 'operatorQuestion', {
    ref: request.ref,
    who: who === undefined ? '—' : withHiddenShown(who),
    question: withHiddenShown(question),
    until: localTime(configuration, request.expiresAt),
    said: withHiddenShown(said),
  });
  return [...text].slice(0, SHOWN_CHARACTERS).join('');
}

async function conversationOf(scope: Scope, { configuration, chatId }: ToolCall): Promise<string> {
  const limit = configuration.providers.operators?.messages ?? 1;
  const utterances = await recentUtterances(scope, { chatId, turnId: NO_TURN, before: ALL, limit });
  return utterances.map(({ author, text }) => `${author === 'customer' ? '›' : '‹'} ${text}`).join('\n');
}

function resultOf({ configuration }: ToolCall, request: OperatorRequest): JsonObject {
  const operator = configuration.operators.find(({ id }) => id === request.operatorId);
  const name = operator?.name ?? request.operatorId;
  const until = localTime(configuration, request.expiresAt);
  return {
    reference: request.ref,
    operator: name,
    until,
    summary: say({ configuration }, 'operatorAsked', { operator: name, ref: request.ref }),
  };
}

function localTime({ business }: TenantConfiguration, at: Date): string {
  return DateTime.fromJSDate(at)
    .setZone(business.timeZone)
    .setLocale(business.language)
    .toLocaleString(DateTime.DATETIME_SHORT);
}
