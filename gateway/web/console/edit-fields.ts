// What a form for a tool's arguments consists of, by the tool's own schema, and what somebody has typed into it as arguments
// again. Pure. Nothing is guessed: a text that is no value of its type goes on as a text, and the schema says what it thinks of it.
import { settableNames } from '../../../activities/approvals/read-changes.js';
import type { Json, JsonObject, ToolDefinition } from '../../../workflows/domain/tool.js';
import { labelOf, propertyOf } from '../components/arguments.js';

export type Control =
  /** One line of text, by the kind of keyboard that a phone shows. */
  | { kind: 'line'; type: 'text' | 'email' | 'url'; maxLength: number | undefined }
  | { kind: 'lines'; maxLength: number | undefined }
  | { kind: 'date' | 'time' }
  | { kind: 'number'; isWhole: boolean; least: number | undefined; most: number | undefined }
  | { kind: 'choice'; options: { value: string; word: string }[] }
  /** Anything that holds other values. */
  | { kind: 'json' };

export interface Field {
  name: string;
  label: string;
  isRequired: boolean;
  control: Control;
  /** Limits in words. */
  hint: string | undefined;
  /** What stands in it at first. */
  text: string;
}

/** The same for people: a name for each argument that nobody may change here. */
export interface Fields {
  fields: Field[];
  /** Filled in by the runtime, secret, or unknown to the tool: shown, and kept as they are. */
  fixed: JsonObject;
}

export function fieldsOf(tool: ToolDefinition, values: JsonObject): Fields {
  const names = settableNames(tool);
  const { required } = tool.inputSchema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = names.map((name): Field => {
    const schema = propertyOf(tool, name) ?? {};
    const control = controlOf(schema, values[name]);
    return {
      name,
      label: labelOf(name, schema),
      isRequired: needed.has(name),
      control,
      hint: limitsInWords(schema, control),
      text: textIn(control, values[name]),
    };
  });
  const known = new Set(names);
  const closed = new Set(tool.secretFields);
  const fixed = Object.entries(values).filter(([name]) => !known.has(name) && !closed.has(name));
  return { fields, fixed: Object.fromEntries(fixed) };
}

/** The name under which a form sends a field. */
export function inputName(field: Pick<Field, 'name'>): string {
  return `argument.${field.name}`;
}

export interface Typed {
  /** All arguments as they would be. */
  values: JsonObject;
  /** What stands in each field now, by name. */
  texts: Record<string, string>;
  /** Names of fields that should hold JSON and don't. */
  unreadable: string[];
}

/** What a form brings back. A field that it doesn't bring, or that nobody has touched, keeps its value to the letter. */
export function readForm({ fields }: Fields, before: JsonObject, form: ReadonlyMap<string, string>): Typed {
  const values = new Map(Object.entries(before));
  const texts: Record<string, string> = {};
  const unreadable: string[] = [];
  for (const field of fields) {
    const text = form.get(inputName(field)) ?? field.text;
    texts[field.name] = text;
    if (sameLines(text) === sameLines(field.text)) continue;
    const value = valueOf(field, sameLines(text));
    if (value === undefined) values.delete(field.name);
    else if (value === UNREADABLE) unreadable.push(field.name);
    else values.set(field.name, value);
  }
  return { values: Object.fromEntries(values), texts, unreadable };
}

/** Browsers send every end of a line as two characters. */
function sameLines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

const UNREADABLE = Symbol('no JSON');
const NUMBER = /^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$/;

/** Undefined: the argument is left out. */
function valueOf({ control }: Field, text: string): Json | undefined | typeof UNREADABLE {
  if (text.trim() === '') return undefined;
  switch (control.kind) {
    case 'number':
      return NUMBER.test(text.trim()) ? Number(text) : text;
    case 'choice':
      return control.options.some(({ value }) => value === text) ? jsonOf(text) : text;
    case 'json': {
      const value = jsonOf(text);
      return value === undefined ? UNREADABLE : value;
    }
    default:
      return text;
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** As a field shows a value; one that its kind of field can't show makes it a text or JSON (`controlOf`). */
function textIn(control: Control, value: Json | undefined): string {
  if (value === undefined) return '';
  if (control.kind === 'choice') return JSON.stringify(value);
  if (control.kind === 'json') return JSON.stringify(value, null, 2);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Longer texts, and such with lines, need room. */
const LINE_CHARACTERS = 120;
const FORMS = { date: /^\d{4}-\d{2}-\d{2}$/, time: /^([01]\d|2[0-3]):[0-5]\d$/ };

/** Whether a browser's own field for dates or times shows this text. */
export function fits(kind: 'date' | 'time', text: string): boolean {
  return text === '' || FORMS[kind].test(text);
}

function controlOf(schema: JsonObject, value: Json | undefined): Control {
  const options = optionsOf(schema);
  if (options && (value === undefined || options.some((option) => isSame(option, value)))) {
    return {
      kind: 'choice',
      options: options.map((one) => ({ value: JSON.stringify(one), word: wordOf(one) })),
    };
  }
  const { type } = schema;
  if ((type === 'number' || type === 'integer') && (value === undefined || typeof value === 'number')) {
    const [least, most] = [numberIn(schema, 'minimum'), numberIn(schema, 'maximum')];
    return { kind: 'number', isWhole: type === 'integer', least, most };
  }
  if (type !== 'string' || (value !== undefined && typeof value !== 'string')) return { kind: 'json' };
  return controlOfText(schema, value);
}

function controlOfText(schema: JsonObject, value: string | undefined): Control {
  const { format } = schema;
  const maxLength = numberIn(schema, 'maxLength');
  if (format === 'date' && fits('date', value ?? '')) return { kind: 'date' };
  if (isTimeOfDay(schema) && fits('time', value ?? '')) return { kind: 'time' };
  const isLong = (maxLength ?? 0) > LINE_CHARACTERS || (value ?? '').length > LINE_CHARACTERS;
  if (isLong || /[\r\n]/.test(value ?? '')) return { kind: 'lines', maxLength };
  const type = format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text';
  return { kind: 'line', type, maxLength };
}

function optionsOf(schema: JsonObject): Json[] | undefined {
  if ('const' in schema) return [schema['const'] ?? null];
  if (Array.isArray(schema['enum'])) return schema['enum'];
  return schema['type'] === 'boolean' ? [true, false] : undefined;
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function wordOf(value: Json): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value);
}

function numberIn(schema: JsonObject, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}

/** By what the pattern takes and what it doesn't: hours and minutes, two digits each. */
function isTimeOfDay({ pattern }: JsonObject): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    const taken = new RegExp(pattern, 'u');
    const times = ['00:00', '09:30', '10:05', '23:59'];
    return (
      times.every((time) => taken.test(time)) && !['', '24:00', '10:60', '1030'].some((no) => taken.test(no))
    );
  } catch {
    return false;
  }
}

function limitsInWords(schema: JsonObject, control: Control): string | undefined {
  switch (control.kind) {
    case 'line':
    case 'lines': {
      const least = numberIn(schema, 'minLength') ?? 0;
      const words = [
        least > 1 ? `at least ${least} characters` : '',
        control.maxLength === undefined ? '' : `at most ${control.maxLength} characters`,
      ].filter((part) => part !== '');
      return words.length === 0 ? undefined : sentence(words.join(', '));
    }
    case 'number': {
      const { isWhole, least, most } = control;
      const range =
        least !== undefined && most !== undefined
          ? `from ${least} to ${most}`
          : least !== undefined
            ? `${least} or more`
            : most !== undefined
              ? `${most} or less`
              : '';
      const words = [isWhole ? 'a whole number' : 'a number', range].filter((part) => part !== '');
      return sentence(words.join(', '));
    }
    case 'json':
      return 'As JSON.';
    default:
      return undefined;
  }
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Why a value isn't taken, for whoever typed it. `rule`: a keyword of JSON Schema. */
export function findingInWords(
  { path, rule }: { path: string; rule: string },
  schema: JsonObject | undefined,
): string {
  const words = ruleInWords(rule, path === '' ? (schema ?? {}) : {});
  return path === '' ? words : `At ${path}: ${words}`;
}

function ruleInWords(rule: string, schema: JsonObject): string {
  switch (rule) {
    case 'required':
      return 'The tool needs this.';
    case 'additionalProperties':
      return 'The tool doesn’t know this.';
    case 'type':
      return wordsFor(TYPES, schema['type']) ?? 'This is of another type than the tool takes.';
    case 'minLength':
      return `This is too short: at least ${textOfRule(schema, rule)} characters.`;
    case 'maxLength':
      return `This is too long: at most ${textOfRule(schema, rule)} characters.`;
    case 'minimum':
    case 'exclusiveMinimum':
      return `This is too little: ${rule === 'minimum' ? 'at least' : 'more than'} ${textOfRule(schema, rule)}.`;
    case 'maximum':
    case 'exclusiveMaximum':
      return `This is too much: ${rule === 'maximum' ? 'at most' : 'less than'} ${textOfRule(schema, rule)}.`;
    case 'enum':
    case 'const':
      return 'This is none of the values that the tool takes.';
    case 'format':
      return wordsFor(FORMATS, schema['format']) ?? 'This is not of the form that the tool takes.';
    case 'pattern':
      return isTimeOfDay(schema)
        ? 'This has to be a time of day, such as 10:30.'
        : 'This is not of the form that the tool takes.';
    default:
      return 'This isn’t what the tool takes.';
  }
}

function textOfRule(schema: JsonObject, rule: string): string {
  const value = schema[rule];
  return typeof value === 'number' ? String(value) : '…';
}

function wordsFor(table: Record<string, string>, name: Json | undefined): string | undefined {
  return typeof name === 'string' ? table[name] : undefined;
}

const TYPES: Record<string, string> = {
  number: 'This has to be a number.',
  integer: 'This has to be a whole number.',
  boolean: 'This has to be yes or no.',
  string: 'This has to be a text.',
  array: 'This has to be a list.',
  object: 'This has to be an object.',
};

const FORMATS: Record<string, string> = {
  date: 'This has to be a day that exists, as YYYY-MM-DD.',
  'date-time': 'This has to be a moment, such as 2026-12-05T10:30:00Z.',
  time: 'This has to be a time with its zone, such as 10:30:00Z.',
  email: 'This has to be an e-mail address.',
  uri: 'This has to be a web address.',
};

/** Where values are looked for in a body that came from a form. */
export function formOf(body: unknown): ReadonlyMap<string, string> {
  if (!isRecord(body)) return new Map();
  return new Map(
    Object.entries(body).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
