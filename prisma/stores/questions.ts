// The one open question of a chat (spec A4a): which tool, the arguments so far, what is missing, until when.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../workflows/domain/tool.js';
import { parseJsonObject } from '../json.js';
import { openOptional, type Scope } from './scope.js';

export type QuestionKind = 'missing' | 'repeat' | 'confirm';

export interface OpenQuestion {
  questionId: string;
  /** The turn that asked. */
  turnId: string;
  kind: QuestionKind;
  tool: string | null;
  missing: string[];
  arguments: JsonObject;
  isTainted: boolean;
}

/** Asks; a question that was open before is dropped, because one at a time is what a person can follow. */
export async function openQuestion(
  scope: Scope,
  question: {
    chatId: string;
    contactId: string;
    turnId: string;
    kind: QuestionKind;
    tool?: string | undefined;
    missing: string[];
    arguments: JsonObject;
    isTainted: boolean;
    expiresAt: Date;
  },
): Promise<{ questionId: string }> {
  const known = await scope.tx.openQuestion.findFirst({ where: { turnId: question.turnId, closedAt: null } });
  if (known) return { questionId: known.id };
  await scope.tx.openQuestion.updateMany({
    where: { chatId: question.chatId, closedAt: null },
    data: { closedAt: new Date(), closedBy: 'another question' },
  });
  const questionId = randomUUID();
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, question.contactId);
  await scope.tx.openQuestion.create({
    data: {
      id: questionId,
      tenantId: scope.tenantId,
      chatId: question.chatId,
      turnId: question.turnId,
      kind: question.kind,
      tool: question.tool ?? null,
      missing: question.missing,
      argumentsCipher: scope.content.sealText(key, {
        table: 'open_questions',
        column: 'arguments_cipher',
        rowId: questionId,
        text: JSON.stringify(question.arguments),
      }),
      keyId: key.id,
      tainted: question.isTainted,
      expiresAt: question.expiresAt,
    },
  });
  return { questionId };
}

/** The question that waits for an answer in this chat now. */
export async function currentQuestion(scope: Scope, chatId: string): Promise<OpenQuestion | undefined> {
  const row = await scope.tx.openQuestion.findFirst({
    where: { chatId, closedAt: null, expiresAt: { gt: new Date() } },
  });
  return row ? readQuestion(scope, row) : undefined;
}

export async function questionById(scope: Scope, questionId: string): Promise<OpenQuestion> {
  return readQuestion(scope, await scope.tx.openQuestion.findUniqueOrThrow({ where: { id: questionId } }));
}

/** Closes a question once: answered by a plan, or dropped because the customer spoke of something else. */
export async function closeQuestion(
  scope: Scope,
  { questionId, by }: { questionId: string; by: 'answered' | 'dropped' },
): Promise<void> {
  await scope.tx.openQuestion.updateMany({
    where: { id: questionId, closedAt: null },
    data: { closedAt: new Date(), closedBy: by },
  });
}

type QuestionRow = Awaited<ReturnType<Scope['tx']['openQuestion']['findUniqueOrThrow']>>;

async function readQuestion(scope: Scope, row: QuestionRow): Promise<OpenQuestion> {
  const text = await openOptional(scope, {
    table: 'open_questions',
    column: 'arguments_cipher',
    rowId: row.id,
    keyId: row.keyId,
    cipher: row.argumentsCipher,
  });
  return {
    questionId: row.id,
    turnId: row.turnId,
    kind: row.kind === 'repeat' || row.kind === 'confirm' ? row.kind : 'missing',
    tool: row.tool,
    missing: row.missing,
    arguments: text === undefined ? {} : parseJsonObject(text),
    isTainted: row.tainted,
  };
}
