// docs/audit.md lists what is audited: every event of the code, and none that the code doesn't know.
import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { projectRoot } from '../../local/child.js';

const ROOMS = ['activities', 'gateway', 'prisma', 'worker'];
/** Functions that take an event's name, and which of their arguments it is (or holds it). */
const WRITERS: Record<string, number> = { appendAudit: 1, auditCall: 0, auditDelivery: 2, audit: 2 };

const listed = (): string[] => {
  const text = readFileSync(join(projectRoot, 'docs', 'audit.md'), 'utf8');
  return [...text.matchAll(/^\| `([a-z_.]+)` +\|/gm)].map(([, event = '']) => event).toSorted();
};

const sources = (): ts.SourceFile[] =>
  ROOMS.flatMap((room) =>
    readdirSync(join(projectRoot, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
      .map((file) => {
        const path = join(projectRoot, room, file);
        return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
      }),
  );

/** Texts of an expression; `*` stands for what is put in when it runs. */
function textsOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map((span) => `*${span.literal.text}`).join('')];
  }
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  return [];
}

function eventsIn(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const argument = node.arguments[WRITERS[node.expression.text] ?? -1];
      if (argument && ts.isObjectLiteralExpression(argument)) {
        for (const property of argument.properties) {
          if (ts.isPropertyAssignment(property) && property.name.getText() === 'event') {
            found.push(...textsOf(property.initializer));
          }
        }
      } else if (argument) found.push(...textsOf(argument));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const eventsOfSql = (): string[] =>
  readdirSync(join(projectRoot, 'prisma', 'migrations'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .flatMap((file) => {
      const text = readFileSync(join(projectRoot, 'prisma', 'migrations', file), 'utf8');
      return [...text.matchAll(/perform aroko_audit\([^,]+, '([a-z_.]+)'/g)].map(([, event = '']) => event);
    });

describe('the list of what is audited', () => {
  const inCode = [...new Set([...sources().flatMap(eventsIn), ...eventsOfSql()])].toSorted();
  const matches = (pattern: string, event: string): boolean =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[a-z_]+')}$`).test(event);

  it('has every event of the code', () => {
    assert.ok(inCode.length > 20, `only ${inCode.length} were found`);
    assert.deepEqual(
      inCode.filter((pattern) => !listed().some((event) => matches(pattern, event))),
      [],
    );
  });

  it('has no event that the code doesn’t write', () => {
    assert.deepEqual(
      listed().filter((event) => !inCode.some((pattern) => matches(pattern, event))),
      [],
    );
  });
});
