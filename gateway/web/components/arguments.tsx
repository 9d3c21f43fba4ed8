// The exact arguments of a call, rendered by the runtime: never a model's words about them.
import { DateTime } from 'luxon';
import type { ToolDefinition, Json, JsonObject } from '../../../workflows/domain/tool.js';
import { Visible } from './visible.js';

/** Longer values are folded: the card stays readable, the whole is one click away. */
const FOLD_AT = 400;

/** `reserve_slot` → "Reserve slot". */
export function titleOf(name: string): string {
  const words = name.replace(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function Arguments(props: {
  values: JsonObject | undefined;
  tool: ToolDefinition | undefined;
  /** What was asked before somebody changed it: what differs is shown beside what is asked now. */
  before?: JsonObject | undefined;
}): JSX.Element {
  if (props.values === undefined) return <p class="quiet">The arguments were erased.</p>;
  const { values, before } = props;
  const left = Object.keys(before ?? {}).filter((name) => !(name in values));
  const entries = Object.entries<Json | undefined>(values).concat(left.map((name) => [name, undefined]));
  if (entries.length === 0) return <p class="quiet">No arguments.</p>;
  return (
    <dl class="arguments">
      {entries.map(([name, value]) => {
        const schema = propertyOf(props.tool, name);
        return (
          <div>
            <dt>
              <span safe>{labelOf(name, schema)}</span>
              <code safe>{name}</code>
            </dt>
            <dd>
              {value === undefined ? <em class="quiet">left out</em> : <Value text={textOf(value)} />}
              <DateHint value={value} schema={schema} />
              {before && !isSame(before[name], value) ? <Before value={before[name]} /> : null}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** A value as people read it: words as they are, everything else as JSON. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function Before({ value }: { value: Json | undefined }): JSX.Element {
  if (value === undefined) return <span class="hint quiet">new</span>;
  return (
    <span class="hint quiet">
      {'was '}
      <Visible text={textOf(value).slice(0, FOLD_AT)} />
    </span>
  );
}

function Value({ text }: { text: string }): JSX.Element {
  if (text.length <= FOLD_AT) return <Visible text={text} />;
  return (
    <details class="fold">
      <summary>
        <Visible text={`${text.slice(0, FOLD_AT)}…`} />
        <span class="more" safe>
          {`Show all ${text.length} characters`}
        </span>
      </summary>
      <Visible text={text} />
    </details>
  );
}

/** A date in words beside the exact one: a wrong weekday is seen, a wrong number isn't. */
function DateHint({
  value,
  schema,
}: {
  value: Json | undefined;
  schema: JsonObject | undefined;
}): JSX.Element {
  if (schema?.['format'] !== 'date' || typeof value !== 'string') return '';
  const date = DateTime.fromISO(value, { zone: 'utc' }).setLocale('en-GB');
  if (!date.isValid) return '';
  return (
    <span class="quiet hint" safe>
      {date.toFormat('cccc d LLLL yyyy')}
    </span>
  );
}

/** The schema of one argument. Undefined: the tool doesn't know it. */
export function propertyOf(tool: ToolDefinition | undefined, name: string): JsonObject | undefined {
  const properties = tool?.inputSchema['properties'];
  if (!isObject(properties)) return undefined;
  const property = properties[name];
  return isObject(property) ? property : undefined;
}

/** What an argument is called for people. */
export function labelOf(name: string, schema: JsonObject | undefined): string {
  const title = schema?.['title'];
  return typeof title === 'string' ? titleOf(title.replace(/^(the|an?) /i, '')) : titleOf(name);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
