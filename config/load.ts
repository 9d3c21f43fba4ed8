// Reads, merges, checks and hashes the configuration of all tenants. Either everything is right, or one error names every
// problem at once: nobody should have to start the program five times to find five typing errors.
//
//   <directory>/defaults/*.yaml            sections for all tenants
//   <directory>/phrases/<language>.yaml    sentences and word lists for all tenants
//   <directory>/phrases/system.<language>.yaml  what the platform itself writes, and names for messages without words
//   <directory>/tenants/<slug>/*.yaml      sections of one tenant, over the defaults
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import canonicalize from 'canonicalize';
import type { z } from 'zod';
import type { Configuration, TenantConfiguration } from './configuration.js';
import { crossProblems } from './cross-checks.js';
import { isMapping, merge } from './merge.js';
import { sharedAccountProblems } from './people-checks.js';
import { ConfigurationError, type ConfigurationProblem } from './problems.js';
import { explain, unknownKey, type Explained } from './schema/explain.js';
import { SECTIONS, type ReadSections, type SectionName, type Sections } from './schema/sections.js';
import { locate, originOf, readSource, yamlFilesIn, type Path, type Source } from './yaml-source.js';

export { ConfigurationError, EXIT_CONFIGURATION, type ConfigurationProblem } from './problems.js';

const SECTION_NAMES = Object.keys(SECTIONS);
const SLUG = /^[a-z][a-z0-9-]{0,62}$/;

interface Layer {
  sources: Source[];
  problems: ConfigurationProblem[];
}

/**
 * The checked configuration of every tenant in the directory, deep-frozen.
 *
 * @throws {ConfigurationError} with every problem of every file.
 */
export function loadConfiguration({ directory }: { directory: string }): Configuration {
  const defaults = readDefaults(directory);
  const tenantsFolder = join(directory, 'tenants');
  const slugs = existsSync(tenantsFolder)
    ? readdirSync(tenantsFolder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
        .sort()
    : [];

  const problems = [...defaults.problems];
  const tenants = new Map<string, TenantConfiguration>();
  for (const slug of slugs) {
    const folder = join(tenantsFolder, slug);
    const read = readTenant({ slug, folder, defaults, others: [...tenants.values()] });
    problems.push(...read.problems);
    if (read.tenant !== undefined) tenants.set(slug, read.tenant);
  }
  if (slugs.length === 0) {
    problems.push({
      file: tenantsFolder,
      path: '',
      wrong: 'there is no tenant',
      right: 'a folder per business with at least business.yaml in it',
    });
  }
  if (problems.length > 0) throw new ConfigurationError(withoutRepeats(problems));
  return Object.freeze({ tenants });
}

function readDefaults(directory: string): Layer {
  const sections = readLayer(yamlFilesIn(join(directory, 'defaults')).map((file) => ({ file, base: [] })));
  const phrases = readLayer(
    yamlFilesIn(join(directory, 'phrases')).map((file) => ({
      file,
      base: phrasesBase(basename(file, '.yaml')),
    })),
  );
  return {
    sources: [...sections.sources, ...phrases.sources],
    problems: [...sections.problems, ...phrases.problems],
  };
}

/** `en` is a phrase book, `system.en` holds what the platform itself writes in that language. */
function phrasesBase(name: string): string[] {
  const [, language] = /^system\.(.+)$/.exec(name) ?? [];
  return language === undefined ? ['phrases', name] : ['systemMessages', language];
}

function readLayer(files: { file: string; base: string[] }[]): Layer {
  const layer: Layer = { sources: [], problems: [] };
  const fileBySection = new Map<string, string>();
  for (const { file, base } of files) {
    const { source, problems } = readSource({ file, base });
    layer.problems.push(...problems);
    layer.sources.push(source);
    if (base.length > 0) continue;
    for (const section of Object.keys(isMapping(source.value) ? source.value : {})) {
      const line = locate([source], [section]) ?? { file };
      const earlier = fileBySection.get(section);
      if (!SECTION_NAMES.includes(section)) {
        layer.problems.push(placed(unknownKey(section, [], SECTION_NAMES), line));
      } else if (earlier !== undefined) {
        const problem = {
          path: [section],
          wrong: `stands in ${earlier} already`,
          right: 'one file per section',
        };
        layer.problems.push(placed(problem, line));
      }
      fileBySection.set(section, file);
    }
  }
  return layer;
}

function readTenant(input: {
  slug: string;
  folder: string;
  defaults: Layer;
  others: TenantConfiguration[];
}): {
  tenant: TenantConfiguration | undefined;
  problems: ConfigurationProblem[];
} {
  const { slug, folder, defaults, others } = input;
  const layer = readTenantLayer(folder);
  const sources = [...defaults.sources, ...layer.sources];
  const { sections, problems } = readSections(mergedValue(sources));
  problems.push(...crossProblems(sections));
  if (!SLUG.test(slug)) {
    problems.push({
      path: [],
      wrong: `"${slug}" is no slug`,
      right: 'lower case letters, digits and hyphens',
    });
  }
  const tenant = isWhole(sections) ? tenantOf(slug, sections) : undefined;
  if (tenant !== undefined) problems.push(...sharedAccountProblems(tenant, others));

  // A file that isn't YAML makes its sections look missing; the syntax is the problem to name, not its consequences.
  const broken = [...defaults.problems, ...layer.problems].some(({ path }) => path === '');
  const here = broken ? problems.filter(({ wrong }) => wrong !== 'is missing') : problems;
  return {
    tenant: problems.length + layer.problems.length === 0 ? tenant : undefined,
    problems: [
      ...layer.problems,
      ...here.map((problem) => placed(problem, locate(sources, problem.path) ?? { file: folder })),
    ],
  };
}

/**
 * The sections of one tenant as they are active, and where each value was written: for people who look for it. The
 * configuration must have been loaded before, which is where problems are told.
 */
export function readWithOrigins(from: { directory: string; slug: string }): {
  sections: ReadSections;
  originOf: (path: Path) => { file: string; line?: number } | undefined;
} {
  const { sources } = readTenantLayer(join(from.directory, 'tenants', from.slug));
  const all = [...readDefaults(from.directory).sources, ...sources];
  return {
    sections: readSections(mergedValue(all)).sections,
    originOf: (path) => originOf(all, path),
  };
}

function readTenantLayer(folder: string): Layer {
  return readLayer(yamlFilesIn(folder).map((file) => ({ file, base: [] })));
}

function mergedValue(sources: readonly Source[]): Record<string, unknown> {
  const merged = sources.reduce<unknown>((under, { base, value }) => {
    const over = base.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
    return merge(under, over);
  }, {});
  return isMapping(merged) ? merged : {};
}

/** Each section by itself, so that a problem in one doesn't hide those of the others. */
function readSections(merged: Record<string, unknown>): { sections: ReadSections; problems: Explained[] } {
  const problems: Explained[] = [];
  const read = <T>(name: SectionName, schema: z.ZodType<T>): T | undefined => {
    const result = schema.safeParse(merged[name], { reportInput: true });
    if (result.success) return result.data;
    const explained = result.error.issues.flatMap((issue) => explain(schema, issue));
    problems.push(...explained.map((problem) => ({ ...problem, path: [name, ...problem.path] })));
    return undefined;
  };
  const sections: ReadSections = {
    business: read('business', SECTIONS.business),
    assistant: read('assistant', SECTIONS.assistant),
    profiles: read('profiles', SECTIONS.profiles),
    models: read('models', SECTIONS.models),
    limits: read('limits', SECTIONS.limits),
    detection: read('detection', SECTIONS.detection),
    policy: read('policy', SECTIONS.policy),
    scrubbing: read('scrubbing', SECTIONS.scrubbing),
    tools: read('tools', SECTIONS.tools),
    providers: read('providers', SECTIONS.providers),
    channels: read('channels', SECTIONS.channels),
    owners: read('owners', SECTIONS.owners),
    operators: read('operators', SECTIONS.operators),
    forwarding: read('forwarding', SECTIONS.forwarding),
    shift: read('shift', SECTIONS.shift),
    phrases: read('phrases', SECTIONS.phrases),
    systemMessages: read('systemMessages', SECTIONS.systemMessages),
  };
  return { sections, problems };
}

function isWhole(sections: ReadSections): sections is Sections {
  return SECTION_NAMES.every((name) => new Map(Object.entries(sections)).get(name) !== undefined);
}

function tenantOf(slug: string, sections: Sections): TenantConfiguration {
  const { tools, phrases, assistant, ...rest } = sections;
  const content = {
    slug,
    ...rest,
    assistant,
    tools: Object.entries(tools).map(([name, tool]) => ({ name, ...tool })),
    phrases: Object.fromEntries(
      Object.entries(phrases)
        .filter(([language, book]) => assistant.languages.includes(language) || book.sentences === undefined)
        .map(([language, book]) => [language, { language, ...book }]),
    ),
  };
  return deepFreeze({ ...content, hash: hashOf(content) });
}

/** SHA-256 of the canonical JSON: the order of keys in the files doesn't matter, the order of lists does. */
function hashOf(content: object): string {
  return createHash('sha256')
    .update(canonicalize(content) ?? '')
    .digest('hex');
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  }
  return Object.freeze(value);
}

function placed(problem: Explained, place: { file: string; line?: number }): ConfigurationProblem {
  return { ...place, path: problem.path.join('.'), wrong: problem.wrong, right: problem.right };
}

/** What is wrong with the defaults is found once per tenant, and said once. */
function withoutRepeats(problems: ConfigurationProblem[]): ConfigurationProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
