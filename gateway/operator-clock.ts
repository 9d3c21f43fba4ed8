// Reminds operators of questions, and closes those that nobody has answered or that never arrived: the customer and the operator
// are told so, and owners of what didn't arrive, also of answers to customers. The rows decide; words are written in the
// transaction that closes, and the sweep hands them over.
import { planUndeliveredNotices, planUnreachedNotices } from '../activities/approvals/undelivered-notices.js';
import { sentence, type PhraseBook } from '../config/phrases.js';
import type { TenantConfiguration } from '../config/configuration.js';
import { errorFacts, type Logger } from '../config/logger.js';
import type { Database } from '../prisma/database.js';
import {
  closeUndeliverable,
  codeOfUndeliverable,
  expireRequest,
  markReminded,
  REQUEST_ORIGINS,
  requestById,
  requestsDue,
  type OperatorRequest,
} from '../prisma/stores/operator-requests.js';
import { planMessage } from '../prisma/stores/outbox.js';
import type { InScope, Scope } from '../prisma/stores/scope.js';
import { undeliveredAnswers } from '../prisma/stores/undelivered-answers.js';
import type { Conversations } from './conversations.js';

const EVERY_MS = 10_000;
const AT_ONCE = 100;
/** Where a whole channel fails, owners hear of it bit by bit. */
const NOTICES_AT_ONCE = 5;
/** What couldn't be done is left alone for so long: it takes nobody else's place meanwhile. */
const REST_MS = 60_000;
/** Longer than an undelivered answer is looked at. */
const SETTLED_MS = 2 * 3_600_000;

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

interface Due {
  tenantId: string;
  id: string;
}
type Look = (where: { limit: number; except: readonly string[] }) => Promise<Due[]>;
type Tell = (scope: Scope, configuration: TenantConfiguration, id: string) => Promise<Words[]>;

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
  /** By id of a request or an answer: until when it is left alone. */
  const resting = new Map<string, number>();

  async function tick(): Promise<number> {
    const now = Date.now();
    for (const [id, until] of resting) if (until <= now) resting.delete(id);
    const told = await tellAll((where) => requestsDue(database.prisma, where), tell, AT_ONCE);
    const answers = await tellAll(
      (where) => undeliveredAnswers(database.prisma, where),
      async (scope, configuration, id) => {
        // Told, or nobody there to be told: once.
        resting.set(id, Date.now() + SETTLED_MS);
        return planUndeliveredNotices(scope, { configuration }, id);
      },
      NOTICES_AT_ONCE,
    );
    if (told > 0) logger.event('operators.told', { told });
    if (answers > 0) logger.event('owners.told_of_undelivered', { answers });
    return told + answers;
  }

  /** Each by itself: what fails for one keeps nobody else from being told. */
  async function tellAll(look: Look, tellOf: Tell, limit: number): Promise<number> {
    let told = 0;
    for (const { tenantId, id } of await ofConfigured(look, limit)) {
      const configuration = configurationOf(tenantId);
      if (!configuration) continue;
      try {
        const words = await inScope(tenantId, (scope) => tellOf(scope, configuration, id));
        if (words.length > 0) told += 1;
        for (const each of words) await ring(tenantId, each);
      } catch (error) {
        resting.set(id, Date.now() + REST_MS);
        logger.warn('operators.not_told', { tenantId, id, ...errorFacts(error) });
      }
    }
    return told;
  }

  /** Tenants that configuration no longer names are left out, and the others get their places. */
  async function ofConfigured(look: Look, limit: number): Promise<Due[]> {
    const strangers = new Set<string>();
    for (;;) {
      const due = await look({ limit, except: [...resting.keys(), ...strangers] });
      const before = strangers.size;
      for (const { tenantId } of due) if (!configurationOf(tenantId)) strangers.add(tenantId);
      if (strangers.size === before) return due;
    }
  }

  async function ring(tenantId: string, { chatId, outboxId }: Words): Promise<void> {
    await conversations.say({ tenantId, chatId, turnId: outboxId, outboxId, kind: 'answer', final: true });
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
  const operator = configuration.operators.find(({ id }) => id === request.operatorId)?.name ?? '';
  const code = await codeOfUndeliverable(scope, requestId);
  if (code !== undefined && (await closeUndeliverable(scope, request, code))) {
    return [
      await write(scope, request, {
        chatId: request.chatId,
        origin: REQUEST_ORIGINS.nobody,
        text: sentence(book, 'operatorUnreachable', { operator }),
        purpose: 'lateAnswer',
      }),
      ...(await planUnreachedNotices(scope, { configuration }, { ...request, operator, code })),
    ];
  }
  if (await expireRequest(scope, request)) {
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
