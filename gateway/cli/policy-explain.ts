// `npm run policy:explain -- --tool … --arguments '{…}'`: asks the policy of a business about one call. Reads configuration and
// nothing else, so it works before anything is started.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { TenantConfiguration } from '../../config/configuration.js';
import { loadConfiguration } from '../../config/load.js';
import { ConfigurationError, EXIT_CONFIGURATION } from '../../config/problems.js';
import { nearest } from '../../config/suggest.js';
import { isJsonObject } from '../../prisma/json.js';
import {
  ACTORS,
  CHANNELS,
  CHAT_KINDS,
  type Actor,
  type Channel,
  type ChatKind,
  type JsonObject,
} from '../../workflows/domain/tool.js';
import { explainPolicy } from './explain-policy.js';

interface Options {
  tool: string;
  arguments: JsonObject;
  actor: Actor;
  channel: Channel;
  chatKind: ChatKind;
  role?: string;
  tainted: boolean;
  at: Date;
  tenant?: string;
  config: string;
}

const program = new Command('npm run policy:explain --')
  .description('Says which rule of policy decides a call, and why each earlier rule does not.')
  .requiredOption('--tool <name>', 'the tool that is called')
  .option('--arguments <json>', 'its arguments, as a JSON object', readArguments, {})
  .addOption(new Option('--actor <who>', 'who asks for it').choices(ACTORS).default('customer'))
  .addOption(new Option('--channel <channel>', 'where the chat lives').choices(CHANNELS).default('web'))
  .addOption(new Option('--chat-kind <kind>', 'what kind of chat').choices(CHAT_KINDS).default('direct'))
  .option('--role <id>', 'the role that the turn is decided for; absent: the assistant’s')
  .option('--tainted', 'untrusted content was among what the model read', false)
  .addOption(new Option('--at <time>', 'when, as ISO 8601').argParser(readTime).default(new Date(), 'now'))
  .option('--tenant <slug>', 'which business; not needed where there is only one')
  .option('--config <folder>', 'the folder of the configuration', './config')
  .showHelpAfterError('Add --help to see what there is.');

function readArguments(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('That is not JSON.');
  }
  if (!isJsonObject(value)) throw new InvalidArgumentError('That is no JSON object, such as {"amount": 5}.');
  return value;
}

function readTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError('That is no time, such as 2027-01-31T18:30:00Z.');
  }
  return time;
}

function tenantOf({ config, tenant }: Options): TenantConfiguration {
  const { tenants } = loadConfiguration({ directory: config });
  const slugs = [...tenants.keys()];
  const only = slugs.length === 1 ? slugs[0] : undefined;
  const slug = tenant ?? only ?? program.error(`Which business? Add --tenant: ${slugs.join(', ')}.`);
  return tenants.get(slug) ?? program.error(`There is no business "${slug}": ${slugs.join(', ')}.`);
}

function run(options: Options): void {
  const configuration = tenantOf(options);
  const names = configuration.tools.map(({ name }) => name);
  const tool =
    configuration.tools.find(({ name }) => name === options.tool) ??
    program.error(
      `There is no tool "${options.tool}". Did you mean ${nearest(options.tool, names) ?? names.join(', ')}?`,
    );
  const { actor, channel, chatKind, tainted, at, role = configuration.assistant.roleId } = options;
  const words = explainPolicy(configuration, {
    tool,
    arguments: options.arguments,
    actor,
    roleId: role,
    channel,
    chatKind,
    isTainted: tainted,
    at,
  });
  process.stdout.write(`${words}\n`);
}

try {
  run(program.parse().opts<Options>());
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = EXIT_CONFIGURATION;
}
