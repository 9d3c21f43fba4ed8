// Tool contexts (spec A9): compact results that a follow-up may refer to. Per chat, few, and gone after their time.
import { randomUUID } from 'node:crypto';
import { inOrder, readable, type Scope } from './scope.js';

/** More than a person can refer back to. */
const KEPT_PER_CHAT = 8;

export interface ToolContext {
  contextId: string;
  tool: string;
  /** What may be referred to, as whoever kept it wrote it: compact, never a raw result. */
  content: string;
  isTainted: boolean;
  createdAt: Date;
}

/** Keeps one context per step, and answers its id. */
export async function keepContext(
  scope: Scope,
  context: {
    chatId: string;
    contactId: string;
    turnId: string;
    stepId: string;
    tool: string;
    content: string;
    isTainted: boolean;
    expiresAt: Date;
  },
): Promise<string> {
  const known = await scope.tx.context.findFirst({ where: { stepId: context.stepId }, select: { id: true } });
  if (known) return known.id;
  const id = randomUUID();
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, context.contactId);
  await scope.tx.context.create({
    data: {
      id,
      tenantId: scope.tenantId,
      chatId: context.chatId,
      turnId: context.turnId,
      stepId: context.stepId,
      tool: context.tool,
      contentCipher: scope.content.sealText(key, {
        table: 'contexts',
        column: 'content_cipher',
        rowId: id,
        text: context.content,
      }),
      keyId: key.id,
      tainted: context.isTainted,
      expiresAt: context.expiresAt,
    },
  });
  const kept = await scope.tx.context.findMany({
    where: { chatId: context.chatId },
    orderBy: { createdAt: 'desc' },
    take: KEPT_PER_CHAT,
    select: { id: true },
  });
  await scope.tx.context.deleteMany({
    where: { chatId: context.chatId, id: { notIn: kept.map((row) => row.id) } },
  });
  return id;
}

/** The live contexts of this chat, newest first. */
export async function liveContexts(scope: Scope, chatId: string): Promise<ToolContext[]> {
  const rows = await scope.tx.context.findMany({
    where: { chatId, expiresAt: { gt: new Date() } },
    orderBy: { createdAt: 'desc' },
    take: KEPT_PER_CHAT,
  });
  const contexts = await inOrder(rows, async (row) => ({
    contextId: row.id,
    tool: row.tool,
    content:
      (await readable(scope, {
        table: 'contexts',
        column: 'content_cipher',
        rowId: row.id,
        keyId: row.keyId,
        cipher: row.contentCipher,
      })) ?? '',
    isTainted: row.tainted,
    createdAt: row.createdAt,
  }));
  return contexts.filter(({ content }) => content !== '');
}
