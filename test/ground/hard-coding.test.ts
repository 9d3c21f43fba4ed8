// What an owner may want to change stands in config/, not in code (spec A16); and what ties the tree to one machine, or
// leaves it half done, stands nowhere.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { KINDS, needlesOf, type Needle, type NeedleKind } from './needles.js';
import { TREE } from './overlay.js';

interface SourceFile {
  path: string;
  source: string;
}

const CODE = /^(workflows|activities|worker|gateway|prisma|local)\/.*\.(ts|tsx|js)$/;
const SPOKEN: NeedleKind[] = ['fixed sentence', 'phrase that is listened for'];
const BINARY = /\.(png|jpg|ico|woff2?|gz|zip)$/;

/** Everything that is or would be committed. */
function trackedFiles(): SourceFile[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: TREE,
    encoding: 'utf8',
  });
  return list
    .split('\0')
    .filter((path) => path !== '' && !BINARY.test(path) && existsSync(join(TREE, path)))
    .map((path) => ({ path, source: readFileSync(join(TREE, path), 'utf8') }));
}

/** Names and texts of a program with their lines, without its comments. */
function wordsOf({ path, source }: SourceFile): { line: number; text: string }[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest);
  const found: { line: number; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralExpression(node) || ts.isIdentifier(node) || ts.isJsxText(node) || isTemplatePart(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push({ line: line + 1, text: plain(node.text) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isTemplatePart(node: ts.Node): node is ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail {
  return ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[‘’]/g, "'").replace(/\s+/g, ' ').trim();
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The demo model speaks like anybody: what it says may be among what a desk says or listens for. */
function isItsOwnSpeech(path: string, kind: NeedleKind): boolean {
  return path.startsWith('local/model/demo/') && SPOKEN.includes(kind);
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;

function hardCoded(files: SourceFile[], needles: Needle[]): string[] {
  // By their first word: there are thousands of needles and tens of thousands of texts.
  const byFirstWord = new Map<string, { kind: NeedleKind; name: string; pattern: RegExp }[]>();
  for (const { kind, text } of needles) {
    const words = plain(text);
    const [first = ''] = words.match(WORD) ?? [];
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])${escaped(words)}(?![\\p{L}\\p{N}\\p{M}])`, 'u');
    byFirstWord.set(first, [...(byFirstWord.get(first) ?? []), { kind, name: `${kind} “${text}”`, pattern }]);
  }
  return files.flatMap((file) =>
    wordsOf(file).flatMap(({ line, text }) =>
      [...new Set(text.match(WORD))]
        .flatMap((word) => byFirstWord.get(word) ?? [])
        .filter(({ kind, pattern }) => pattern.test(text) && !isItsOwnSpeech(file.path, kind))
        .map(({ name }) => `${file.path}:${line} ${name}`),
    ),
  );
}

const files = trackedFiles();
const code = files.filter(({ path }) => CODE.test(path));
const needles = files
  .filter(({ path }) => /^config\/.*\.yaml$/.test(path))
  .flatMap(({ path }) => needlesOf(join(TREE, path)));

describe('code', () => {
  it('holds no words of config/', () => {
    assert.ok(code.length > 100, 'the code was looked at');
    assert.deepEqual(hardCoded(code, needles), []);
  });

  for (const kind of KINDS) {
    it(`would be caught with a planted ${kind}, but not for a comment`, () => {
      const [needle] = needles.filter((one) => one.kind === kind);
      assert.ok(needle, `config/ has a ${kind}`);
      const planted = (source: string): SourceFile => ({ path: 'activities/planted.ts', source });
      const said = JSON.stringify(`so: ${needle.text.toUpperCase()}!`);
      assert.equal(hardCoded([planted(`export const said = ${said};\n`)], [needle]).length, 1);
      assert.equal(
        hardCoded([planted(`// ${needle.text}\nexport const said = 'nothing';\n`)], [needle]).length,
        0,
      );
    });
  }
});

/** Put together here from pieces, so that this file doesn't hold what it looks for. */
const pieces = (...parts: string[]): string => parts.join('');
const PROGRAM = /\.(ts|tsx|js|cjs)$/;
const REFUSED: { what: string; pattern: RegExp; sample: string; where?: RegExp; except?: RegExp }[] = [
  {
    what: 'the host of a package registry',
    pattern: new RegExp(
      [
        pieces('registry.', 'npmjs'),
        pieces('registry.', 'yarnpkg'),
        pieces('npmjs', '.org'),
        pieces('pypi', '.org'),
        pieces('python', 'hosted'),
        pieces('proxy.', 'golang'),
        pieces('crates', '.io'),
        pieces('repo1.', 'maven'),
        pieces('deb.', 'debian'),
      ]
        .map(escaped)
        .join('|'),
    ),
    sample: pieces('https://registry.', 'npmjs', '.org/left-pad'),
  },
  {
    what: 'a path of one machine',
    pattern: /(?:^|[\s'"`(=:,])\/(?:work|root|farm)(?:\/|['"`)\s]|$)/m,
    sample: pieces("open('/", 'work', "/main/file')"),
    except: /^package-lock\.json$/,
  },
  {
    what: 'a note that something is left to do',
    pattern: new RegExp(`\\b(?:${pieces('TO', 'DO')}|${pieces('FIX', 'ME')})\\b`),
    sample: pieces('// TO', 'DO: later'),
    except: /^package-lock\.json$/,
  },
  {
    what: 'a comment that switches lint off',
    pattern: new RegExp(pieces('eslint', '-disable')),
    sample: pieces('// eslint', '-disable-next-line'),
  },
  {
    what: 'a comment that switches the compiler off',
    pattern: new RegExp(`@ts-(?:${pieces('ig', 'nore')}|${pieces('no', 'check')})`),
    sample: pieces('// @ts-ig', 'nore'),
  },
  {
    what: 'a cast to no type',
    pattern: new RegExp(`\\b${pieces('as', ' any')}\\b(?=\\s*[;,.)\\]}]|\\s*$)`, 'm'),
    sample: pieces('const it = row as', ' any;'),
    where: PROGRAM,
  },
];

describe('no file', () => {
  for (const { what, pattern, sample, where, except } of REFUSED) {
    it(`holds ${what}`, () => {
      assert.match(sample, pattern, 'a planted one would be found');
      const found = files
        .filter(({ path }) => (where?.test(path) ?? true) && !(except?.test(path) ?? false))
        .filter(({ source }) => pattern.test(source))
        .map(({ path }) => path);
      assert.deepEqual(found, []);
    });
  }
});
