// The story of a run as lines of text: sections in the order in which things happen, each line with its time (UTC).
import type { JsonObject } from '../../workflows/domain/tool.js';
import { withHiddenShown } from '../../workflows/domain/visible-text.js';
import type { RunRecord } from '../../prisma/stores/views/run-record.js';
import type { Cell, Print } from './output.js';
import { at, printHead, type Links, type TemporalSide } from './run-head.js';

/** Prints one section, and nothing where it has no rows. */
type Section = (title: string, head: string[], rows: Cell[][]) => void;
/** Prints what somebody wrote, where it was asked for. */
type Content = (title: string, text: string | undefined) => void;

export function printStory(
  print: Print,
  record: RunRecord,
  frame: { temporal: TemporalSide; links: Links; isWithContent: boolean },
): void {
  const section: Section = (title, head, rows) => {
    if (rows.length === 0) return;
    print.line();
    print.line(title);
    print.table(head, rows);
  };
  const content: Content = (title, text) => {
    if (text !== undefined) print.line(`  ${title}: ${withHiddenShown(text)}`);
  };
  printHead(print, record, frame);
  printAsked(section, content, record);
  printDecision(print, record);
  section(
    'Candidates',
    ['TOOL', 'SCORE', 'BECAUSE'],
    (record.run?.candidates ?? []).map((one) => [one.tool, one.score.toFixed(2), one.because]),
  );
  printModels(section, record);
  printChecked(section, content, record);
  printApprovals(section, content, record);
  printCarriedOut(section, content, record);
  printSaid(section, content, record);
  printFailures(section, content, record);
  printAudit(section, record);
  if (frame.isWithContent) return;
  print.line();
  print.line('What was written is not shown: --show-content shows it, and the audit says that you looked.');
}

function printAsked(section: Section, content: Content, { messages }: RunRecord): void {
  section(
    'Asked',
    ['TIME', 'NO', 'KIND', 'FROM', 'STATE', 'REASON', 'MESSAGE'],
    messages.map((one) => [
      at(one.receivedAt),
      one.sequence,
      one.kind,
      one.speaker,
      one.state,
      or(one.reason),
      one.messageId,
    ]),
  );
  for (const one of messages) content(`message ${one.sequence}`, one.text);
}

function printDecision(print: Print, { turn, run }: RunRecord): void {
  print.line();
  print.line('Decided');
  print.pairs([
    ['Time', time(turn.decidedAt)],
    ['Route', or(turn.route)],
    ['Gate', or(turn.gate)],
    ['Because', or(turn.because)],
    ['Actor', or(turn.actor)],
    ['Role', or(turn.roleId)],
    ['Effort', or(turn.effort)],
    ['Tainted', yesOrNo(turn.isTainted)],
    ['Configuration', or(run?.configHash ?? turn.configHash)],
  ]);
}

function printModels(section: Section, { modelCalls }: RunRecord): void {
  section(
    'Models asked',
    ['TIME', 'FOR', 'MODEL', 'OUTCOME', 'TOKENS IN', 'OUT', 'TOOK'],
    modelCalls.map((one) => [
      at(one.calledAt),
      one.purpose,
      one.model,
      one.outcome,
      one.inputTokens,
      one.outputTokens,
      `${one.latencyMs} ms`,
    ]),
  );
}

function printChecked(section: Section, content: Content, { steps }: RunRecord): void {
  section(
    'Planned and checked',
    ['STEP', 'TOOL', 'VERDICT', 'EFFECT', 'GATE', 'RULE OR CHECK', 'CODE', 'TAINTED', 'HASH OF THE CALL'],
    steps.map((one) => [
      one.ordinal + 1,
      one.tool,
      verdictOf(one),
      or(one.effect),
      or(one.gate),
      or(one.failedCheck ?? one.rule),
      one.failedCheck === null ? undefined : or(one.code),
      yesOrNo(one.isTainted),
      one.argumentsHash.slice(0, 16),
    ]),
  );
  for (const one of steps) {
    content(`step ${one.ordinal + 1} because`, one.because);
    content(`step ${one.ordinal + 1} arguments`, one.arguments);
  }
}

function verdictOf(step: RunRecord['steps'][number]): string {
  if (step.failedCheck !== null) return 'rejected';
  return step.effect === null ? 'none yet' : 'accepted';
}

function printApprovals(section: Section, content: Content, { approvals }: RunRecord): void {
  section('Approval', ['TIME', 'REF', 'WHAT', 'WHO', 'WHERE', 'MORE'], approvals.flatMap(approvalLines));
  for (const one of approvals) {
    for (const decision of one.decisions) content(`${one.ref} reason`, decision.reason);
  }
}

function approvalLines(approval: RunRecord['approvals'][number]): Cell[][] {
  const line = (when: Date | null, what: string, ...more: Cell[]): Cell[][] =>
    when ? [[at(when), approval.ref, what, ...[0, 1, 2].map((place) => more[place])]] : [];
  const asked = approval.gate === 'confirm' ? 'the customer' : approval.approvers.join(', ') || 'any owner';
  const terms = `rule ${approval.rule}, ${approval.needed} yes needed, until ${at(approval.expiresAt)}`;
  return [
    ...line(approval.askedAt, `${approval.gate} asked for`, asked, undefined, terms),
    ...line(approval.remindedAt, 'reminded'),
    ...approval.decisions.flatMap((one) => line(one.decidedAt, one.decision, one.approver, one.surface)),
    ...line(approval.decidedAt, `is ${approval.state}`),
    ...line(approval.heardAt, 'the run took note'),
    ...line(approval.usedAt, 'used up by its step'),
  ];
}

function printCarriedOut(section: Section, content: Content, { steps }: RunRecord): void {
  section(
    'Carried out',
    [
      'STEP',
      'TOOL',
      'OUTCOME',
      'CODE',
      'ATTEMPTS',
      'STARTED',
      'CALL BY',
      'FINISHED',
      'FENCE',
      'REF',
      'SETTLED',
    ],
    steps
      .filter((one) => one.startedAt !== null)
      .map((one) => [
        one.ordinal + 1,
        one.tool,
        [one.state, one.isPartial && 'partial', one.isDeclined && 'declined'].filter(Boolean).join(', '),
        or(one.code),
        one.attempts,
        time(one.startedAt),
        time(one.callBy),
        time(one.finishedAt),
        one.fence?.slice(0, 8),
        or(one.ref),
        or(one.settledBy),
      ]),
  );
  for (const one of steps) content(`step ${one.ordinal + 1} result`, one.result);
}

function printSaid(section: Section, content: Content, { sends }: RunRecord): void {
  section(
    'Said',
    ['TIME', 'KIND', 'ORIGIN', 'STATE', 'CODE', 'ATTEMPTS', 'DELIVERY', 'MESSAGE'],
    sends.map((one) => [
      at(one.settledAt ?? one.sendingAt ?? one.plannedAt),
      one.kind,
      one.origin,
      one.state,
      or(one.code),
      one.attempts,
      or(one.delivery),
      one.outboxId,
    ]),
  );
  for (const one of sends) content(one.kind, one.text);
}

function printFailures(section: Section, content: Content, { failures }: RunRecord): void {
  section(
    'Failures',
    ['TIME', 'ACTIVITY', 'TYPE', 'CODE'],
    failures.map((one) => [at(one.happenedAt), one.activity, one.type, or(one.code)]),
  );
  for (const one of failures) content(one.activity, one.detail);
}

function printAudit(section: Section, { audit }: RunRecord): void {
  section(
    'Audit',
    ['TIME', 'NO', 'EVENT', 'BY', 'FACTS'],
    audit.map((one) => [at(one.happenedAt), one.number, one.event, one.actor, factsInWords(one.facts)]),
  );
}

function factsInWords(facts: JsonObject): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

function time(when: Date | null): string | undefined {
  return when ? at(when) : undefined;
}

function or(value: string | null | undefined): string | undefined {
  return value ?? undefined;
}

function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no';
}
