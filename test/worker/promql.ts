// The metrics that a query of Prometheus asks for. Not a parser: it takes away what is no metric.

const WORDS = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'and',
  'or',
  'unless',
  'bool',
  'offset',
]);

export function metricNamesOf(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '""')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*/g)]
    .filter(({ 0: word, index }) => !WORDS.has(word) && !/^\s*\(/.test(bare.slice(index + word.length)))
    .map(([word]) => word);
}
