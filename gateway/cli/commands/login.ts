// A link that signs an owner in to the console, once: where no local start prints one.
import type { Command } from 'commander';
import { createLoginLink } from '../../../prisma/stores/sessions.js';
import type { CliDeps } from '../deps.js';
import { CommandProblem } from '../problem.js';

const MINUTES = 30;
const DEFAULT_URL = 'http://127.0.0.1:3000';

export function addLoginCommand(program: Command, deps: CliDeps): void {
  program
    .command('login')
    .description('make a link that signs an owner in to the console, once, within half an hour')
    .option('--as <owner>', 'the id of the owner; not needed where there is only one')
    .option('--url <url>', `where the gateway is reached; absent: where npm start says, else ${DEFAULT_URL}`)
    .action((options: { as?: string; url?: string }) => login(deps, options));
}

async function login(deps: CliDeps, options: { as?: string; url?: string }): Promise<void> {
  const { owners } = deps.configuration();
  const [only] = owners;
  if (options.as === undefined && owners.length !== 1) {
    throw new CommandProblem(`Say who: --as ${owners.map(({ id }) => id).join(' | ')}.`, { isSetting: true });
  }
  const ownerId = deps.owner(options.as ?? only?.id ?? '');
  const link = await createLoginLink(deps.database(), {
    tenantId: await deps.tenantId(),
    ownerId,
    validMinutes: MINUTES,
  });
  const gateway = options.url ?? deps.target().gatewayUrl ?? DEFAULT_URL;
  const url = `${gateway.replace(/\/$/, '')}/console/login/${link.token}`;
  deps.output.answer({ owner: ownerId, url, validMinutes: MINUTES }, (print) => {
    print.line(url);
    print.line(`Signs ${ownerId} in, once, within ${MINUTES} minutes.`);
  });
}
