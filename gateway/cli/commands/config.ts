// `config check` and `config show`: whether the configuration could start, and what it comes to. Both read files only, so
// they work before anything runs, and on a machine that runs nothing.
import { relative } from 'node:path';
import { Option, type Command } from 'commander';
import { Document, isCollection, isMap, isScalar, isSeq, type YAMLMap, type YAMLSeq } from 'yaml';
import { describeConfiguration } from '../../../config/describe.js';
import { loadConfiguration, readWithOrigins } from '../../../config/load.js';
import { secretsNamedBy } from '../../../config/secret-names.js';
import { SECTIONS, type ReadSections } from '../../../config/schema/sections.js';
import { createSecrets } from '../../../config/secrets.js';
import type { Output } from '../output.js';
import { CommandProblem } from '../problem.js';

export interface ConfigCommandDeps {
  output: Output;
  /** What `--dir` replaces. */
  configDirectory: string;
  /** Where the files of secrets lie. Absent: nothing is known of them. */
  secretsDirectory?: string | undefined;
}

interface ShowOptions {
  dir?: string;
  tenant?: string;
  section?: string[];
}

/** What is written in one line if it has no more characters. */
const ONE_LINE = 90;

/** Long lists that nobody looks for on one screen; `--section` shows them. */
const LONG = ['phrases', 'scrubbing', 'detection', 'systemMessages'];

/**
 * Adds the commands. Both throw what the loader throws: a `ConfigurationError` with every problem, which ends the command
 * line with 78.
 */
export function addConfigCommands(program: Command, deps: ConfigCommandDeps): void {
  const config = program.command('config').description('checks and shows the configuration; starts nothing');
  const directory = (): Option =>
    new Option('--dir <folder>', 'the folder of the configuration').default(
      undefined,
      `AROKO_CONFIG_DIR, else ${deps.configDirectory}`,
    );

  config
    .command('check')
    .description('tells every problem with file, place and remedy, or that there is none')
    .addOption(directory())
    .action((options: { dir?: string }) => check(deps, options.dir ?? deps.configDirectory));

  config
    .command('show')
    .description(
      'shows what the defaults and the files of a business come to, and where each value is written',
    )
    .addOption(directory())
    .option('--tenant <slug>', 'which business; not needed where there is only one')
    .addOption(new Option('--section <name...>', 'only these sections').choices(Object.keys(SECTIONS)))
    .action((_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ShowOptions>();
      show(deps, { ...options, dir: options.dir ?? deps.configDirectory });
    });
}

function check({ output }: ConfigCommandDeps, directory: string): void {
  const configuration = loadConfiguration({ directory });
  const tenants = [...configuration.tenants.values()].map(({ slug, hash }) => ({ slug, hash }));
  output.answer({ directory, tenants }, (print) => {
    print.line(`The configuration in ${directory} is right.`);
    print.line();
    print.line(describeConfiguration(configuration));
  });
}

function show(
  { output, secretsDirectory }: ConfigCommandDeps,
  { dir, tenant: wanted, section }: ShowOptions & { dir: string },
): void {
  const { tenants } = loadConfiguration({ directory: dir });
  const slug = wanted ?? (tenants.size === 1 ? [...tenants.keys()][0] : undefined);
  const tenant = slug === undefined ? undefined : tenants.get(slug);
  if (slug === undefined || tenant === undefined) {
    const known = `Configured in ${dir}: ${[...tenants.keys()].join(', ')}.`;
    const wrong =
      wanted === undefined
        ? 'There are several businesses; name one with --tenant.'
        : `There is no business “${wanted}”.`;
    throw new CommandProblem(`${wrong} ${known}`, { isSetting: true });
  }
  const { sections, originOf } = readWithOrigins({ directory: dir, slug });
  const shown = chosen(sections, section);
  const secrets = createSecrets({ directory: secretsDirectory });
  const named = secretsNamedBy(sections).map((secret) => ({
    ...secret,
    isThere: secretsDirectory !== undefined && secrets.get(secret.name) !== undefined,
  }));
  output.answer({ slug, hash: tenant.hash, sections: shown, secrets: named }, (print) => {
    print.line(`# ${slug}, version ${tenant.hash}`);
    print.line(withOrigins(shown, (path) => placeOf(originOf(path), dir)));
    const left = LONG.filter((name) => !Object.hasOwn(shown, name));
    if (section === undefined) print.line(`# Not shown, being long: ${left.join(', ')} (--section).`);
    if (named.length === 0) return;
    print.line();
    print.line(
      secretsDirectory === undefined
        ? 'Secrets (AROKO_SECRETS_DIR is not set, so none is there):'
        : `Secrets in ${secretsDirectory}:`,
    );
    print.table(
      ['name', 'file', 'named by'],
      named.map(({ name, isThere, places }) => [name, isThere ? 'there' : 'missing', places.join(', ')]),
    );
  });
}

function chosen(sections: ReadSections, wanted: string[] | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(sections).filter(([name]) => wanted?.includes(name) ?? !LONG.includes(name)),
  );
}

function placeOf(origin: { file: string; line?: number } | undefined, directory: string): string {
  if (origin === undefined) return 'built in';
  return `${relative(directory, origin.file)}${origin.line === undefined ? '' : `:${origin.line}`}`;
}

/** YAML with a comment at each value that says where it is written; a list is one value. */
function withOrigins(value: unknown, placeAt: (path: (string | number)[]) => string): string {
  const document = new Document(value);
  const note = (node: unknown, path: (string | number)[]): void => {
    if (isMap(node) && node.items.length > 0) {
      for (const { key, value: child } of node.items) {
        note(child, [...path, isScalar(key) ? String(key.value) : '']);
      }
    } else if (isSeq(node) && !isShort(node)) {
      for (const item of node.items) if (isCollection(item)) item.flow = isShort(item);
      node.commentBefore = ` ${placeAt(path)}`;
    } else if (isScalar(node) || isCollection(node)) {
      if (isCollection(node)) node.flow = true;
      node.comment = ` ${placeAt(path)}`;
    }
  };
  note(document.contents, []);
  return document.toString({ lineWidth: 0, blockQuote: 'literal' }).trimEnd();
}

function isShort(node: YAMLMap | YAMLSeq): boolean {
  return JSON.stringify(node).length <= ONE_LINE;
}
