// Reads the YAML files of one layer (the defaults, or one tenant) and remembers where each value stands, so that a problem
// found after merging can still name its file and line.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isNode, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';
import type { ConfigurationProblem } from './problems.js';

export type Path = readonly (string | number)[];

/** One file, and where its content lies in the merged configuration. */
export interface Source {
  file: string;
  base: Path;
  value: unknown;
  document: Document;
  lines: LineCounter;
}

/** The YAML files of a folder in the order of their names; none when the folder is missing. */
export function yamlFilesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => join(folder, name));
}

/** A file that can't be read as YAML comes back as problems, without a value. */
export function readSource(input: { file: string; base: Path }): {
  source: Source;
  problems: ConfigurationProblem[];
} {
  const { file, base } = input;
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(file, 'utf8'), {
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
  });
  const problems = [...syntaxProblems(file, document, lines), ...keyProblems(file, document, lines)];
  const value: unknown = problems.length > 0 ? {} : (document.toJS({ maxAliasCount: 50 }) ?? {});
  return { source: { file, base, value, document, lines }, problems };
}

function syntaxProblems(file: string, document: Document, lines: LineCounter): ConfigurationProblem[] {
  return [...document.errors, ...document.warnings].map((error) => ({
    file,
    path: '',
    line: lines.linePos(error.pos[0]).line,
    ...(error.code === 'DUPLICATE_KEY'
      ? { wrong: 'the same key stands here twice', right: 'one of the two' }
      : { wrong: `this is not YAML: ${error.message}`, right: 'valid YAML 1.2' }),
  }));
}

/** `__proto__` would vanish on the way through plain objects, so it is named instead of ignored. */
function keyProblems(file: string, document: Document, lines: LineCounter): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if (document.contents !== null && !isMap(document.contents)) {
    problems.push({ file, path: '', line: 1, wrong: 'the file is not a mapping', right: 'keys with values' });
  }
  visit(document, {
    Pair: (_, { key }) => {
      if (!isScalar(key) || typeof key.value !== 'string' || key.value === '__proto__') {
        const line = isNode(key) && key.range ? { line: lines.linePos(key.range[0]).line } : {};
        problems.push({
          file,
          path: '',
          ...line,
          wrong: 'this key is not a plain word',
          right: 'a text key',
        });
      }
    },
  });
  return problems;
}

/** The file and line that best explain a path: the latest layer that holds the longest part of it. */
export function locate(sources: readonly Source[], path: Path): { file: string; line?: number } | undefined {
  let best: { source: Source; depth: number; line: number | undefined } | undefined;
  for (const source of sources) {
    if (!source.base.every((part, index) => path[index] === part)) continue;
    const found = deepest(source, path.slice(source.base.length));
    if (best === undefined || found.depth + source.base.length >= best.depth) {
      best = { source, depth: found.depth + source.base.length, line: found.line };
    }
  }
  if (best === undefined || best.depth === 0) return undefined;
  return { file: best.source.file, ...(best.line === undefined ? {} : { line: best.line }) };
}

/** Where exactly this value stands, in the latest layer that has it; nowhere: the schema filled it in. */
export function originOf(
  sources: readonly Source[],
  path: Path,
): { file: string; line?: number } | undefined {
  for (const source of sources.toReversed()) {
    if (!source.base.every((part, index) => path[index] === part)) continue;
    const own = path.slice(source.base.length);
    const { depth, line } = deepest(source, own);
    if (own.length > 0 && depth === own.length) {
      return { file: source.file, ...(line === undefined ? {} : { line }) };
    }
  }
  return undefined;
}

/** How much of the path exists in the file, and the line of the last part that does. */
function deepest(source: Source, path: Path): { depth: number; line: number | undefined } {
  for (let depth = path.length; depth > 0; depth--) {
    const parent: unknown =
      depth === 1 ? source.document.contents : source.document.getIn(path.slice(0, depth - 1), true);
    const last = path[depth - 1];
    const node: unknown = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === last)?.key
      : source.document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return { depth, line: source.lines.linePos(node.range[0]).line };
  }
  return { depth: 0, line: undefined };
}
