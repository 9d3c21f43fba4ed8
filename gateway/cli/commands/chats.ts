// Takes a chat over from the assistant and gives it back: while a person has it, the assistant is silent there.
import type { Command } from 'commander';
import { DateTime } from 'luxon';
import { releaseChat, takeChat } from '../../../prisma/stores/takeover.js';
import { chatExists } from '../../../prisma/stores/views/without-content.js';
import { readCount, readId } from '../arguments.js';
import type { CliDeps } from '../deps.js';
import { inWords } from '../output.js';
import { CommandProblem } from '../problem.js';

export function addChatCommands(program: Command, deps: CliDeps): void {
  const chats = program
    .command('chats')
    .description('take a chat over from the assistant, and give it back')
    .helpCommand(false);
  chats
    .command('pause')
    .description('the assistant says nothing in this chat any more')
    .argument('<chat>', 'the chat’s id, as messages and approvals list it', readId)
    .requiredOption('--as <owner>', 'the id of the owner who has it now')
    .option('--minutes <n>', 'it goes back by itself after so long', readCount)
    .action((chatId: string, options: { as: string; minutes?: number }) => pause(deps, chatId, options));
  chats
    .command('release')
    .description('the assistant answers again')
    .argument('<chat>', 'the chat’s id', readId)
    .requiredOption('--as <owner>', 'the id of the owner who gives it back')
    .action((chatId: string, options: { as: string }) => release(deps, chatId, options));
}

async function pause(
  deps: CliDeps,
  chatId: string,
  options: { as: string; minutes?: number },
): Promise<void> {
  const by = `owner:${deps.owner(options.as)}`;
  const until =
    options.minutes === undefined ? undefined : DateTime.now().plus({ minutes: options.minutes }).toJSDate();
  const { takeover } = await deps.inScope(async (scope) => {
    if (!(await chatExists(scope.tx, chatId))) throw noSuchChat(chatId);
    return takeChat(scope, { chatId, by, until });
  });
  await tellConversation(deps, chatId);
  deps.output.answer({ chatId, ...takeover }, (print) => {
    const end = takeover.until
      ? `for ${inWords(takeover.until.getTime() - Date.now())}`
      : 'until it is released';
    print.line(`The assistant is silent in chat ${chatId} ${end}.`);
  });
}

async function release(deps: CliDeps, chatId: string, options: { as: string }): Promise<void> {
  const by = `owner:${deps.owner(options.as)}`;
  const { outcome } = await deps.inScope(async (scope) => {
    if (!(await chatExists(scope.tx, chatId))) throw noSuchChat(chatId);
    return releaseChat(scope, { chatId, by });
  });
  if (outcome === 'not_taken') throw new CommandProblem(`Nobody has taken chat ${chatId} over.`);
  await tellConversation(deps, chatId);
  deps.output.answer({ chatId, outcome }, (print) =>
    print.line(`The assistant answers in chat ${chatId} again.`),
  );
}

function noSuchChat(chatId: string): CommandProblem {
  return new CommandProblem(`There is no chat ${chatId}.`);
}

async function tellConversation(deps: CliDeps, chatId: string): Promise<void> {
  const [tenantId, conversations] = [await deps.tenantId(), await deps.conversations()];
  if ((await conversations.deskChanged({ tenantId, chatId })) === 'rung') return;
  deps.output.note('Temporal can’t be reached: what the assistant has begun to say may still arrive.');
}
