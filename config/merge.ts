// A tenant over the defaults: mappings are merged key by key (so tools and phrases merge by name), anything else,
// lists included, is replaced. A list that grew by merging could never be made shorter.

/** Values that are not mappings are taken over whole; `undefined` never overrides. */
export function merge(under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (!isMapping(under) || !isMapping(over)) return over;
  const keys = new Set([...Object.keys(under), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(under[key], over[key])]));
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
