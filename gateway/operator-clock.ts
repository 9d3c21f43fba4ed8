// Reminds operators of questions, and closes those that nobody has answered: the customer and the operator are told so. The
// rows decide; words are written in the transaction that closes, and the sweep hands them over.
import { sentence, type PhraseBook } from '../config/phrases.js';
import type { TenantConfiguration } from '../config/configuration.js';
import { errorFacts, type Logger } from '../config/logger.js';
import type { Database } from '../prisma/database.js';
import {
  expireRequest,
  markReminded,
  REQUEST_ORIGINS,
  requestById,
  requestsDue,
  type OperatorRequest,
} from '../prisma/stores/operator-requests.js';
import { planMessage } from '../prisma/stores/outbox.js';
import type { InScope, Scope } from '../prisma/stores/scope.js';
import type { Conversations } from './conversations.js';

const EVERY_MS = 10_000;
const AT_ONCE = 100;

export interface OperatorClock {
  /** One round; also what the timer runs. Answers how many were told. */
  tick(): Promise<number>;
  start(): void;
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

interface Words {
  chatId: string;
  outboxId: string;
}

export function createOperatorClock(deps: {
  database: Database;
  inScope: InScope;
  conversations: Conversations;
  /** By tenant id; undefined: a tenant that configuration no longer names. */
  configurationOf: (tenantId: string) => TenantConfiguration | undefined;
  logger: Logger;
}): OperatorClock {
  const { database, inScope, conversations, configurationOf, logger } = deps;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<unknown> = Promise.resolve();
  let stopped = false;

  async function tick(): Promise<number> {
    const due = await requestsDue(database.prisma, { limit: AT_ONCE });
    let told = 0;
    for (const { tenantId, requestId } of due) {
      const configuration = configurationOf(tenantId);
      if (!configuration) continue;
      const words = await inScope(tenantId, (scope) => tell(scope, configuration, requestId));
      for (const { chatId, outboxId } of words) {
        await conversations.say({
          tenantId,
          chatId,
          turnId: outboxId,
          outboxId,
          kind: 'answer',
          final: true,
        });
      }
      if (words.length > 0) told += 1;
    }
    if (told > 0) logger.event('operators.told', { told });
    return told;
  }

  function plan(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      round = tick()
        .catch((error: unknown) => logger.warn('operators.clock_failed', errorFacts(error)))
        .finally(plan);
    }, EVERY_MS);
  }

  return {
    tick,
    start: plan,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}

async function tell(scope: Scope, configuration: TenantConfiguration, requestId: string): Promise<Words[]> {
  const request = await requestById(scope, requestId);
  if (!request) return [];
  const book = bookOf(configuration);
  const { ref } = request;
  if (await expireRequest(scope, request)) {
    const operator = configuration.operators.find(({ id }) => id === request.operatorId)?.name ?? '';
    return [
      await write(scope, request, {
        chatId: request.chatId,
        origin: REQUEST_ORIGINS.nobody,
        text: sentence(book, 'operatorNobody', { operator }),
        purpose: 'lateAnswer',
      }),
      ...(await toOperator(
        scope,
        request,
        REQUEST_ORIGINS.tooLate,
        sentence(book, 'operatorTooLate', { ref }),
      )),
    ];
  }
  if (await markReminded(scope, requestId)) {
    return toOperator(scope, request, REQUEST_ORIGINS.reminder, sentence(book, 'operatorReminder', { ref }));
  }
  return [];
}

async function toOperator(
  scope: Scope,
  request: OperatorRequest,
  origin: string,
  text: string,
): Promise<Words[]> {
  const question = await scope.tx.outbox.findFirst({
    where: { originKind: REQUEST_ORIGINS.question, originId: request.requestId, ordinal: 0 },
    select: { chatId: true },
  });
  if (!question) return [];
  return [await write(scope, request, { chatId: question.chatId, origin, text, purpose: 'operatorRequest' })];
}

async function write(
  scope: Scope,
  { contactId, requestId }: OperatorRequest,
  words: { chatId: string; origin: string; text: string; purpose: 'lateAnswer' | 'operatorRequest' },
): Promise<Words> {
  const { chatId, origin, text, purpose } = words;
  const { outboxId } = await planMessage(scope, {
    chatId,
    contactId,
    turnId: null,
    origin: { kind: origin, id: requestId },
    kind: 'answer',
    text,
    details: { isVerbatim: true, purpose },
  });
  return { chatId, outboxId };
}

function bookOf({ phrases, business }: TenantConfiguration): PhraseBook {
  const book = phrases[business.language];
  if (!book) throw new Error('the tenant has no phrases of its own language');
  return book;
}
