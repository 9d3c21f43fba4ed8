// Turns what zod found into what is wrong and what would be right, in words for whoever wrote the file.
import { z } from 'zod';
import { nearest, rightNames } from '../suggest.js';
import { SECRET_NAME } from './values.js';

export interface Explained {
  path: (string | number)[];
  wrong: string;
  right: string;
}

/** One or more problems per issue: every unknown key is a problem of its own. */
export function explain(schema: z.ZodType, issue: z.core.$ZodIssue): Explained[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, path, knownKeysAt(schema, path)));
    case 'invalid_key':
      return [
        { path, wrong: `"${String(path.at(-1))}" can't be a name here`, right: rightOfKey(issue.issues) },
      ];
    case 'invalid_type':
      return [wrongType(path, issue)];
    case 'invalid_value':
      return [invalidValue(path, issue)];
    case 'too_small':
      return [{ path, wrong: 'is too small', right: bound('at least', issue.minimum, issue.origin) }];
    case 'too_big':
      return [{ path, wrong: 'is too large', right: bound('at most', issue.maximum, issue.origin) }];
    case 'invalid_union':
      return [
        { path, wrong: `${shown(issue.input)} is of no kind that fits`, right: unionInWords(issue.errors) },
      ];
    case 'not_multiple_of':
      return [{ path, wrong: `${shown(issue.input)} does not fit`, right: `a multiple of ${issue.divisor}` }];
    case 'custom':
      return [{ path, wrong: issue.message, right: rightOf(issue.params) }];
    default:
      return [{ path, wrong: issue.message, right: 'a value that passes this check' }];
  }
}

/** An unknown key, with the known one that was probably meant. */
export function unknownKey(key: string, path: (string | number)[], known: readonly string[]): Explained {
  return {
    path: [...path, key],
    wrong: `"${key}" is not a known key`,
    right: rightNames(key, known),
  };
}

function invalidValue(path: (string | number)[], issue: z.core.$ZodIssueInvalidValue): Explained {
  const values = issue.values.map(String);
  if (issue.input === undefined) return { path, wrong: 'is missing', right: `one of ${values.join(', ')}` };
  const near = typeof issue.input === 'string' ? nearest(issue.input, values) : undefined;
  const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
  return {
    path,
    wrong: `${shown(issue.input)} is not allowed`,
    right: `one of ${values.join(', ')}${suggestion}`,
  };
}

/** Follows the path through the schema as data, because zod's own types differ at every turn. */
function knownKeysAt(schema: z.ZodType, path: readonly (string | number)[]): string[] {
  let here: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  for (const part of path) {
    const children = property(here, 'properties');
    here =
      property(children, String(part)) ?? property(here, 'additionalProperties') ?? property(here, 'items');
  }
  const properties = property(here, 'properties');
  const names = property(property(here, 'propertyNames'), 'enum');
  if (typeof properties === 'object' && properties !== null) return Object.keys(properties);
  return Array.isArray(names) ? names.map(String) : [];
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

function rightOf(params: unknown): string {
  const right = property(params, 'right');
  return typeof right === 'string' ? right : 'a value that passes this check';
}

function rightOfKey(issues: readonly z.core.$ZodIssue[]): string {
  const [issue] = issues;
  return issue?.code === 'custom' ? rightOf(issue.params) : (issue?.message ?? 'another name');
}

function wrongType(path: (string | number)[], issue: z.core.$ZodIssueInvalidType): Explained {
  const right = ownWords(issue) ?? inWords(issue.expected);
  if (issue.input === undefined) return { path, wrong: 'is missing', right };
  // Digits in the place of a secret's name may be the secret.
  return { path, wrong: right === SECRET_NAME ? 'is no text' : `is ${kindOf(issue.input)}`, right };
}

/** A schema may say itself what belongs here; zod's own message would only repeat the types. */
function ownWords({ message }: z.core.$ZodIssue): string | undefined {
  return message.startsWith('Invalid input') ? undefined : message;
}

/** What each branch would have taken: "text, a number or true or false". */
function unionInWords(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const kinds = branches.flatMap(([issue]) => {
    if (issue?.code === 'invalid_type') return [inWords(issue.expected)];
    return issue?.code === 'invalid_value' ? [issue.values.map(String).join(', ')] : [];
  });
  const last = kinds.at(-1);
  if (last === undefined) return 'a value that passes this check';
  return kinds.length === 1 ? last : `${kinds.slice(0, -1).join(', ')} or ${last}`;
}

const WORDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  null: 'nothing',
};

function inWords(expected: string): string {
  return WORDS[expected] ?? expected;
}

function kindOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : shown(value);
}

/** Short, because a wrong value may be a page of text. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function bound(word: string, limit: number | bigint, origin: string): string {
  const unit: Record<string, string> = { string: ' characters', array: ' entries', set: ' entries' };
  return `${word} ${limit}${unit[origin] ?? ''}`;
}
