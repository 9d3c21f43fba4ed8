// The closed account of messages: what came in, and what of it nobody has settled yet, with its age.
import type { Command } from 'commander';
import {
  messageCounts,
  openSends,
  plainMessages,
  type OpenSend,
  type PlainMessage,
} from '../../../prisma/stores/views/without-content.js';
import { readCount } from '../arguments.js';
import type { CliDeps } from '../deps.js';
import { ago, inWords, type Print } from '../output.js';

const LIMIT = 50;

export function addMessageCommands(program: Command, deps: CliDeps): void {
  program
    .command('messages')
    .description('what customers wrote and what became of it, never the text')
    .option('--open', 'only what is not settled, the oldest first')
    .option('--limit <n>', 'how many at most', readCount, LIMIT)
    .action((options: { open?: true; limit: number }) =>
      options.open ? listOpen(deps, options) : list(deps, options),
    );
}

async function listOpen(deps: CliDeps, { limit }: { limit: number }): Promise<void> {
  const now = new Date();
  const [messages, sends] = await deps.inTenant(async (tx) => [
    await plainMessages(tx, { state: 'open', limit }),
    await openSends(tx, limit),
  ]);
  const json = {
    messages: messages.map((message) => ({
      ...message,
      ageMs: now.getTime() - message.receivedAt.getTime(),
    })),
    sends: sends.map((send) => ({ ...send, ageMs: now.getTime() - send.plannedAt.getTime() })),
  };
  deps.output.answer(json, (print) => {
    if (messages.length === 0) print.line('No message is open.');
    else printOpen(print, messages, now);
    if (sends.length === 0) return;
    print.line();
    print.line('On their way to customers, or nobody knows whether they arrived:');
    printSends(print, sends, now);
  });
}

function printOpen(print: Print, messages: PlainMessage[], now: Date): void {
  print.table(
    ['AGE', 'CHAT', 'NO', 'KIND', 'TURN', 'RUN', 'RUN ID'],
    messages.map((message) => [
      inWords(now.getTime() - message.receivedAt.getTime()),
      message.chatId,
      message.sequence,
      message.kind,
      message.turnState ?? 'not taken up',
      message.runState ?? undefined,
      message.runId ?? undefined,
    ]),
  );
}

function printSends(print: Print, sends: OpenSend[], now: Date): void {
  print.table(
    ['AGE', 'CHAT', 'KIND', 'STATE', 'CODE', 'ID'],
    sends.map((send) => [
      inWords(now.getTime() - send.plannedAt.getTime()),
      send.chatId,
      send.kind,
      send.state,
      send.code ?? undefined,
      send.outboxId,
    ]),
  );
}

async function list(deps: CliDeps, { limit }: { limit: number }): Promise<void> {
  const now = new Date();
  const [counts, messages] = await deps.inTenant(async (tx) => [
    await messageCounts(tx),
    await plainMessages(tx, { state: 'all', limit }),
  ]);
  deps.output.answer({ counts, messages }, (print) => {
    if (messages.length === 0) return print.line('Nobody has written yet.');
    print.table(
      ['STATE', 'COUNT', 'OLDEST'],
      counts.map(({ state, count, oldest }) => [state, count, ago(oldest, now)]),
    );
    print.line();
    print.table(
      ['RECEIVED', 'CHAT', 'NO', 'KIND', 'FROM', 'STATE', 'REASON'],
      messages.map((message) => [
        ago(message.receivedAt, now),
        message.chatId,
        message.sequence,
        message.kind,
        message.speaker,
        message.state,
        message.reason ?? undefined,
      ]),
    );
  });
}
