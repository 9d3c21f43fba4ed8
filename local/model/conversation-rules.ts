// How messages must follow each other. The API merges neighbours of one role and is otherwise strict about
// which results answer which calls; a client that breaks these rules gets a 400 in production.

interface RuleBlock {
  type: string;
  [field: string]: unknown;
}
interface RuleMessage {
  role: 'user' | 'assistant' | 'system';
  content: RuleBlock[];
}

/** The first broken rule as the API words it, or undefined. */
export function conversationProblem(messages: RuleMessage[]): string | undefined {
  const spoken = mergeNeighbours(messages.filter((message) => message.role !== 'system'));
  if (spoken[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  if (spoken.at(-1)?.role !== 'user') {
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  }
  return firstProblem(
    spoken.map((message, index) => turnProblem(message, spoken[index - 1], spoken[index + 1], index)),
  );
}

function firstProblem(problems: (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

function mergeNeighbours(messages: RuleMessage[]): RuleMessage[] {
  const merged: RuleMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role) last.content = [...last.content, ...message.content];
    else merged.push({ ...message });
  }
  return merged;
}

function turnProblem(
  message: RuleMessage,
  previous: RuleMessage | undefined,
  next: RuleMessage | undefined,
  index: number,
): string | undefined {
  const results = idsOf(message, 'tool_result', 'tool_use_id');
  const calls = idsOf(message, 'tool_use', 'id');
  if (message.role === 'user' && calls.length > 0) {
    return `messages.${index}: \`tool_use\` blocks can only be in \`assistant\` messages`;
  }
  if (message.role === 'assistant' && results.length > 0) {
    return `messages.${index}: \`tool_result\` blocks can only be in \`user\` messages`;
  }
  if (new Set(calls).size < calls.length) return `messages.${index}: \`tool_use\` ids must be unique`;
  const asked = previous ? idsOf(previous, 'tool_use', 'id') : [];
  const stray = results.find((id) => !asked.includes(id));
  if (stray !== undefined) {
    return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  const answered = next ? idsOf(next, 'tool_result', 'tool_use_id') : [];
  const open = calls.filter((id) => !answered.includes(id));
  if (open.length > 0) {
    return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}.`;
  }
  return undefined;
}

function idsOf(message: RuleMessage, type: string, field: string): string[] {
  return message.content.filter((block) => block.type === type).map((block) => String(block[field]));
}
