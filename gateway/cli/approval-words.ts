// A request as a terminal shows it: the facts, and what people wrote where that was asked for.
import type { ApprovalView } from '../../prisma/stores/views/approvals.js';
import type { ApprovalLine } from '../../prisma/stores/views/without-content.js';
import { withHiddenShown } from '../../workflows/domain/visible-text.js';
import { ago, inWords, type Cell, type Print } from './output.js';

export function deadline(at: Date, now: Date): string {
  const left = at.getTime() - now.getTime();
  return left > 0 ? `in ${inWords(left)}` : 'over';
}

/** `content`: absent where it wasn't asked for. */
export function printApproval(
  print: Print,
  line: ApprovalLine,
  { content, now }: { content: ApprovalView | undefined; now: Date },
): void {
  print.pairs(factsOf(line, now));
  if (line.decisions.length > 0) {
    print.line();
    print.table(
      ['DECISION', 'BY', 'ON', 'WHEN'],
      line.decisions.map(({ decision, approver, surface, decidedAt }) => [
        decision,
        approver,
        surface,
        ago(decidedAt, now),
      ]),
    );
  }
  print.line();
  if (content) printContent(print, content);
  else print.line('The arguments are what a customer wrote: --show-content shows them.');
}

function factsOf(line: ApprovalLine, now: Date): [string, Cell][] {
  return [
    ['REF', line.ref],
    ['State', line.state],
    ['Tool', line.tool],
    ['Rule', line.rule],
    ['Asked', ago(line.askedAt, now)],
    ['Expires', line.state === 'open' ? deadline(line.expiresAt, now) : line.expiresAt.toISOString()],
    ['Asked of', line.approvers.length === 0 ? 'every owner' : line.approvers.join(', ')],
    ['Yeses', `${yesesOf(line)} of ${line.needed}`],
    ['Without an answer', line.onExpiry === 'handOff' ? 'a person takes over' : 'the customer hears no'],
    ['Arguments', `sha256 ${line.argumentsHash}`],
    ['Chat', line.chatId],
    ['Run', line.turnId],
  ];
}

function yesesOf({ decisions }: ApprovalLine): number {
  return new Set(decisions.filter(({ decision }) => decision === 'approve').map(({ approver }) => approver))
    .size;
}

/** What people wrote, for programs. */
export function contentOf({
  arguments: values,
  chat,
  told,
  decision,
  stepState,
  isDeclined,
  runState,
}: ApprovalView): object {
  return { arguments: values, chat, told, reason: decision?.reason, stepState, isDeclined, runState };
}

function printContent(
  print: Print,
  { arguments: values, chat, told, decision, stepState, isDeclined }: ApprovalView,
): void {
  print.pairs([
    ['Step', isDeclined ? `${stepState}, declined` : stepState],
    ['Customer', visible(chat ?? 'erased')],
    ['Reason', decision?.reason === undefined ? undefined : visible(decision.reason)],
    ['Told', told === undefined ? undefined : visible(told)],
  ]);
  print.line();
  if (values === undefined) return print.line('The arguments were erased.');
  print.table(
    ['ARGUMENT', 'VALUE'],
    Object.entries(values).map(([name, value]) => [
      visible(name),
      visible(typeof value === 'string' ? value : JSON.stringify(value)),
    ]),
  );
}

/** Characters that hide, reorder or steer a terminal are shown by name. */
function visible(text: string): string {
  return withHiddenShown(text).replaceAll('\n', ' ');
}
