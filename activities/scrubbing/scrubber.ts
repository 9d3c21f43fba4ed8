// Takes secrets and payment data out of what tools return and models write, before anybody reads or keeps it (spec A8). Pure
// text in, text out: no rule knows a tool, and what was removed is never part of what is reported.
import type { Scrubbing } from '../../config/configuration.js';
import type { Json, JsonObject } from '../../workflows/domain/tool.js';
import { createAssignmentFinder, createNames, isSecretValue } from './named-values.js';
import { createCardCheck, createCardFinder, findIbans } from './numbers.js';
import { findPrivateKeys } from './pem.js';
import { beginsWithMark, markOf, replaceSpans } from './span.js';
import { createTokenFinder } from './tokens.js';

/** How often a rule has removed something. Fit for logs: the name is the configuration's. */
export interface Found {
  rule: string;
  count: number;
}

export interface Scrubber {
  /** The text with `[removed: <rule>]` where a secret was. Text without one comes back as it is. */
  scrubText(text: string): { text: string; found: Found[] };
  /**
   * The same for every text in a value, names of members included. The whole value of a member with a secret's name goes,
   * whatever it is; `null`, `true` and `false` can hold nothing and stay.
   */
  scrubJson(value: JsonObject): { value: JsonObject; found: Found[] };
}

/** A removal can lay open what stood glued to it, so a text is read again until nothing is found, at most this often. */
const PASSES = 6;
/** No honest text needs more passes, no honest result is nested deeper. */
const TOO_TANGLED = 'unreadable';
const MAX_DEPTH = 64;

/** Compiles the rules once. The scrubber keeps nothing between calls, never throws, and finds nothing in its own output. */
export function createScrubber(settings: Scrubbing): Scrubber {
  const names = createNames(settings.names);
  const isCardNumber = createCardCheck(settings.cards);
  const finders = [
    findPrivateKeys,
    createTokenFinder(settings.tokens),
    createAssignmentFinder(names),
    createCardFinder(isCardNumber),
    ...(settings.ibans ? [findIbans] : []),
  ];
  return {
    scrubText(text) {
      const count = createCount();
      return { text: clean(text, count), found: count.all() };
    },
    scrubJson(value) {
      const count = createCount();
      return { value: cleanMembers(value, count, 1), found: count.all() };
    },
  };

  function clean(text: string, count: Count): string {
    let current = text;
    for (let pass = 0; pass < PASSES; pass++) {
      const spans = finders.flatMap((find) => find(current));
      if (spans.length === 0) return current;
      const replaced = replaceSpans(current, spans);
      replaced.rules.forEach(count.add);
      current = replaced.text;
    }
    return removed(TOO_TANGLED, count);
  }

  function cleanValue(value: Json, count: Count, depth: number): Json {
    if (typeof value === 'string') return clean(value, count);
    if (typeof value === 'number') return isCardNumber(String(value)) ? removed('card', count) : value;
    if (value === null || typeof value === 'boolean') return value;
    if (depth > MAX_DEPTH) return removed(TOO_TANGLED, count);
    if (Array.isArray(value)) return value.map((each) => cleanValue(each, count, depth + 1));
    return cleanMembers(value, count, depth + 1);
  }

  function cleanMembers(value: JsonObject, count: Count, depth: number): JsonObject {
    const members = new Map<string, Json>();
    for (const [name, member] of Object.entries(value)) {
      const cleanName = clean(name, count);
      members.set(unused(cleanName, members), cleanMember(cleanName, member, count, depth));
    }
    return Object.fromEntries(members);
  }

  function cleanMember(name: string, member: Json, count: Count, depth: number): Json {
    const verdict = member === null || typeof member === 'boolean' ? undefined : names.judge(name);
    const isKnown = typeof member === 'string' && beginsWithMark(member);
    if (verdict === undefined || isKnown) return cleanValue(member, count, depth);
    if (verdict.certainty === 'strong') return removed(verdict.rule, count);
    const isSecret = typeof member === 'string' && isSecretValue(member, verdict, false);
    return isSecret ? removed(verdict.rule, count) : cleanValue(member, count, depth);
  }
}

/** Two members whose names were secrets would otherwise become one. */
function unused(name: string, members: ReadonlyMap<string, Json>): string {
  let free = name;
  for (let number = 2; members.has(free); number++) free = `${name} (${number})`;
  return free;
}

function removed(rule: string, count: Count): string {
  count.add(rule);
  return markOf(rule);
}

interface Count {
  add: (rule: string) => void;
  all: () => Found[];
}

function createCount(): Count {
  const counts = new Map<string, number>();
  return {
    add: (rule) => counts.set(rule, (counts.get(rule) ?? 0) + 1),
    all: () => [...counts].map(([rule, count]) => ({ rule, count })),
  };
}
