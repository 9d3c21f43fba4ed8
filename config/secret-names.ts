// Which secrets a configuration names, and at which places: found by what the schemas say of a value, so that a section
// that is added later is found too.
import { z } from 'zod';
import { SECTIONS, type SectionName } from './schema/sections.js';
import { SECRET_NAME_FORMAT } from './schema/values.js';

export interface NamedSecret {
  name: string;
  /** Dotted paths of the values that name it. */
  places: string[];
}

/** Every secret that these sections name, in the order of the names. */
export function secretsNamedBy(sections: Partial<Record<SectionName, unknown>>): NamedSecret[] {
  const found = new Map<string, string[]>();
  for (const [section, schema] of Object.entries(SECTIONS)) {
    const shape: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
    collect(shape, new Map<string, unknown>(Object.entries(sections)).get(section), section, found);
  }
  return [...found.entries()]
    .map(([name, places]) => ({ name, places }))
    .sort((left, right) => left.name.localeCompare(right.name));
}

/** Follows a value and its JSON Schema side by side. */
function collect(shape: unknown, value: unknown, path: string, found: Map<string, string[]>): void {
  if (typeof value === 'string' && member(shape, 'format') === SECRET_NAME_FORMAT) {
    found.set(value, [...(found.get(value) ?? []), path]);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      collect(member(shape, 'items'), item, `${path}.${index}`, found);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) {
      const own = member(member(shape, 'properties'), key) ?? member(shape, 'additionalProperties');
      collect(own, child, `${path}.${key}`, found);
    }
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}
