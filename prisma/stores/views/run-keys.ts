// What an engineer has in hand (an id out of a log line, a workflow id out of the Temporal UI, a REF out of a chat), and
// which turn or chat it belongs to.
import type { Tx } from '../../database.js';

export type Subject = { kind: 'turn'; turnId: string; chatId: string } | { kind: 'chat'; chatId: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TOOL_RUN = /^tool-run\/(.+)$/;
const CONVERSATION = /^conversation\/[^/]+\/(.+)$/;
const REF = /^[A-Z]-[A-Z0-9]{4}$/;

/** Undefined: nothing of this tenant has that id or REF. A REF may come back into use after years: the newest is meant. */
export async function findSubject(tx: Tx, key: string): Promise<Subject | undefined> {
  const given = key.trim();
  const ref = given.toUpperCase();
  if (REF.test(ref)) return subjectOfRef(tx, ref);
  const turnId = TOOL_RUN.exec(given)?.[1];
  if (turnId !== undefined) return UUID.test(turnId) ? turnOf(tx, turnId) : undefined;
  const chatId = CONVERSATION.exec(given)?.[1];
  if (chatId !== undefined) return UUID.test(chatId) ? chatOf(tx, chatId) : undefined;
  return UUID.test(given) ? subjectOfId(tx, given) : undefined;
}

async function turnOf(tx: Tx, turnId: string): Promise<Subject | undefined> {
  const turn = await tx.turn.findUnique({ where: { id: turnId }, select: { id: true, chatId: true } });
  return turn ? { kind: 'turn', turnId: turn.id, chatId: turn.chatId } : undefined;
}

async function chatOf(tx: Tx, chatId: string): Promise<Subject | undefined> {
  const chat = await tx.chat.findUnique({ where: { id: chatId }, select: { id: true } });
  return chat ? { kind: 'chat', chatId: chat.id } : undefined;
}

async function subjectOfRef(tx: Tx, ref: string): Promise<Subject | undefined> {
  const select = { turnId: true } as const;
  const approval = await tx.approval.findFirst({ where: { ref }, orderBy: { askedAt: 'desc' }, select });
  if (approval) return turnOf(tx, approval.turnId);
  const step = await tx.step.findFirst({ where: { ref }, orderBy: { startedAt: 'desc' }, select });
  if (step) return turnOf(tx, step.turnId);
  const request = await tx.operatorRequest.findFirst({
    where: { ref },
    orderBy: { askedAt: 'desc' },
    select: { turnId: true, chatId: true },
  });
  if (!request) return undefined;
  return request.turnId === null ? { kind: 'chat', chatId: request.chatId } : turnOf(tx, request.turnId);
}

/** Ids are random, so whichever row has it is the one that is meant. */
async function subjectOfId(tx: Tx, id: string): Promise<Subject | undefined> {
  const where = { id };
  const select = { turnId: true } as const;
  const asTurn = await turnOf(tx, id);
  if (asTurn) return asTurn;
  const rows = [
    await tx.inbox.findUnique({ where, select }),
    await tx.step.findUnique({ where, select }),
    await tx.approval.findUnique({ where, select }),
    await tx.outbox.findUnique({ where, select }),
  ];
  const turnId = rows.find((row) => row?.turnId)?.turnId;
  return turnId ? turnOf(tx, turnId) : chatOf(tx, id);
}
