// The command line: its name, its options and its commands. Each group of commands has a file of its own.
import { Command, Option } from 'commander';
import { addApprovalCommands } from './commands/approvals.js';
import { addAuditCommands } from './commands/audit.js';
import { addChatCommands } from './commands/chats.js';
import { addConfigCommands } from './commands/config.js';
import { addLoginCommand } from './commands/login.js';
import { addMessageCommands } from './commands/messages.js';
import { addReplayCommand } from './commands/replay.js';
import { addRunCommands } from './commands/runs.js';
import { addSecretCommands } from './commands/secrets.js';
import { addSwitchCommands } from './commands/switches.js';
import type { CliDeps } from './deps.js';
import { DATA_DIRECTORY } from './target.js';

export function createProgram(): Command {
  return new Command('npm run aroko --')
    .description(
      'Looks into a running Aroko and acts in it: approvals, open messages, the switch that stops every effect, chats ' +
        'that a person takes over, the audit.',
    )
    .option('--tenant <slug>', 'which business; not needed where there is only one')
    .option('--json', 'print JSON for programs instead of tables for people')
    .addOption(
      new Option(
        '--data-dir <folder>',
        'the local start to work on, instead of what the environment names',
      ).default(undefined, `the environment, else ${DATA_DIRECTORY}`),
    )
    .helpOption('-h, --help', 'show this, or the help of a command')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: true })
    .showHelpAfterError('Add --help to see what there is.')
    .addHelpText(
      'after',
      [
        '',
        'Where it looks:',
        '  what npm start runs on this computer, or, with AROKO_DATABASE_URL,',
        '  AROKO_TEMPORAL_ADDRESS and AROKO_MASTER_KEY_FILE, an installation elsewhere',
        '',
        'How it ends:',
        '  0   done',
        '  1   the answer is no, or something is away',
        '  78  a setting has to be mended first',
        '',
        'Examples:',
        '  npm run aroko -- approvals list',
        '  npm run aroko -- approvals reject K-7Q4F --as ada --reason "Closed that day."',
        '  npm run aroko -- messages --open --json',
        '  npm run aroko -- switch effects off --as ada',
        '  npm run aroko -- audit verify',
      ].join('\n'),
    );
}

export function addCommands(program: Command, deps: CliDeps): void {
  addApprovalCommands(program, deps);
  addMessageCommands(program, deps);
  addRunCommands(program, deps);
  addReplayCommand(program, deps);
  addSwitchCommands(program, deps);
  addChatCommands(program, deps);
  addAuditCommands(program, deps);
  addConfigCommands(program, deps);
  addLoginCommand(program, deps);
  addSecretCommands(program, deps);
}
