// What the Temporal UI shows of a conversation, for the engineer who looks at it. Ids and times only.
import { toolRunWorkflowId } from '../domain/ids.js';
import type { DeskMemory } from './desk.js';
import type { ConversationState } from './state.js';

export function describe({ doneUpTo, runs, desk }: ConversationState): string {
  const waiting = desk.lease || runs.size > 0 ? '' : ', waiting for the next';
  const first = `answered up to message ${doneUpTo}${waiting}`;
  const lines = [first, ...deskInWords(desk)];
  if (runs.size === 0) return lines.join('\n\n');
  const underWay = [...runs.keys()].map((turnId) => `- \`${toolRunWorkflowId({ turnId })}\``);
  return [...lines, ['under way:', ...underWay].join('\n')].join('\n\n');
}

function deskInWords({ session, debounce, lease, held }: DeskMemory): string[] {
  const words: string[] = [];
  if (session?.state === 'waiting')
    words.push(`session waiting for a person until ${at(session.graceUntil)}`);
  if (session?.state === 'active') words.push('session active');
  if (debounce) words.push(`more of the same may come until ${at(debounce.dueAt)}`);
  if (lease)
    words.push(`a person has the chat${lease.until === undefined ? '' : ` until ${at(lease.until)}`}`);
  if (held.length > 0) words.push(`${held.length} held back`);
  return words;
}

function at(instant: number): string {
  return new Date(instant).toISOString();
}
