// An owner changes what they are asked, from whatever surface. The change passes the checks that the model's proposal
// passed; the call gets a hash of its own and a request of its own, which needs a yes as any other.
import { canonicalCall, hashOfCall, hashOfTerms } from '../call-hash.js';
import { isPlainJsonObject } from '../planning/read-proposal.js';
import type { Tenant } from '../tenants.js';
import { schemaFindings } from '../validation/argument-schema.js';
import { checkCall, missingArguments } from '../validation/checks.js';
import { policyOfCall } from '../validation/policy.js';
import {
  lockForEdit,
  replaceApproval,
  type ApprovalTerms,
  type Editable,
} from '../../prisma/stores/approval-edits.js';
import { auditRefusal } from '../../prisma/stores/approval-refusals.js';
import type { ApprovalKey, DecisionOutcome, DecisionRefusal } from '../../prisma/stores/approvals.js';
import { claimRequest, openRunWithRequest } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { lockStep, type Step } from '../../prisma/stores/steps.js';
import { lockChat, turnById, type ChatRow, type TurnRow } from '../../prisma/stores/turns.js';
import type { Approver } from '../../workflows/domain/approval.js';
import type { JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { isDecisionLive } from '../../workflows/domain/turn.js';
import { planNotices } from './notices.js';
import { readChanges, settableNames, type Pair } from './read-changes.js';

/** `pairs`: what somebody typed, over what is there. `arguments`: all of them, as they shall be. */
export type Change = { kind: 'pairs'; pairs: readonly Pair[] } | { kind: 'arguments'; arguments: JsonObject };

export interface EditRequest {
  key: ApprovalKey;
  approver: Approver;
  change: Change;
  /** The chat in which it was said. Absent: not in a chat. */
  saidIn?: string | undefined;
}

/** Why the change itself can't be made. `gone`: the tool, the step or the turn's decision no longer stands. */
export type EditProblem =
  | 'unknown_name'
  | 'doubled'
  | 'unreadable'
  | 'invalid'
  | 'missing'
  | 'same'
  | 'not_allowed'
  | 'already_asked'
  | 'gone';

/** What a schema doesn't take: of which argument, where in it (a JSON pointer), and by which of its rules (a keyword). */
export interface EditFinding {
  name: string;
  path: string;
  rule: string;
}

interface Wrong {
  problem: EditProblem;
  /** The argument it is about; the first of several. */
  name?: string | undefined;
  /** All that the schema finds. Absent: it isn't the schema that objects. */
  findings?: EditFinding[];
}

export type EditOutcome =
  | {
      outcome: 'changed';
      /** The request that is over, which the run waits for until it has heard. */
      approvalId: string;
      turnId: string;
      ref: string;
      newApprovalId: string;
      newRef: string;
    }
  | ({ outcome: 'not_changed'; approvalId: string; ref: string; names: string[] } & Wrong)
  | (DecisionOutcome & { outcome: DecisionRefusal });

/** One transaction: either there is another request, with its notices, or nothing has changed and the refusal is audited. */
export async function editApproval(
  scope: Scope,
  tenant: Pick<Tenant, 'configuration'>,
  { key, approver, change, saidIn }: EditRequest,
): Promise<EditOutcome> {
  const locked = await lockForEdit(scope, { key, approver, saidIn });
  if ('outcome' in locked) return locked;
  const { editable } = locked;
  const { approvalId, ref, turnId, chatId, stepId } = editable;
  const edit: Edit = {
    scope,
    tenant,
    editable,
    step: await lockStep(scope, stepId),
    turn: await turnById(scope, turnId),
    chat: await lockChat(scope, chatId),
    tool: tenant.configuration.tools.find(({ name, enabled }) => enabled && name === editable.terms.tool),
  };
  const made = await ask(edit, approver, change);
  if ('newApprovalId' in made) return { outcome: 'changed', approvalId, turnId, ref, ...made };
  const { problem } = made;
  await auditRefusal(scope, {
    stream: chatId,
    approvalId,
    ref,
    approver,
    decision: 'edit',
    outcome: problem,
  });
  const names = edit.tool ? settableNames(edit.tool) : [];
  return { outcome: 'not_changed', approvalId, ref, names, ...made };
}

interface Edit {
  scope: Scope;
  tenant: Pick<Tenant, 'configuration'>;
  editable: Editable;
  step: Step;
  turn: TurnRow;
  chat: ChatRow;
  /** Absent: switched off or gone since. */
  tool: ToolDefinition | undefined;
}

async function ask(
  edit: Edit,
  approver: Approver,
  change: Change,
): Promise<Wrong | { newApprovalId: string; newRef: string }> {
  const { scope, tenant, editable, step, turn, chat, tool } = edit;
  if (!tool || step.state !== 'accepted' || !isDecisionLive(turn.decision, Date.now())) {
    return { problem: 'gone' };
  }
  const after = argumentsAfter(tool, step.arguments, change, tenant.configuration.limits.argumentsBytes);
  if ('problem' in after) return after;
  const call = { tool, arguments: after.values, turn, chat };
  const policy = policyOfCall(tenant, call);
  const failed = checkCall({
    toolName: tool.name,
    tool,
    arguments: after.values,
    candidates: turn.decision.route.kind === 'tools' ? turn.decision.route.candidates : [],
    actor: turn.decision.actor,
    chatKind: chat.kind,
    ordinal: step.ordinal,
    policy,
    configuration: tenant.configuration,
  });
  if (failed) return { problem: 'not_allowed' };
  const requestKey = await requestKeyOf(edit, after.values);
  const { turnId, chatId } = editable;
  if ((await openRunWithRequest(scope, { turnId, chatId, requestKey })) !== undefined) {
    return { problem: 'already_asked' };
  }
  const asked = await replaceApproval(scope, editable, {
    approver,
    edits: { before: step.arguments, after: after.values },
    terms: termsAfter(edit, tool, after.values),
  });
  if (!asked) return { problem: 'gone' };
  await claimRequest(scope, { turnId, requestKey });
  await planNotices(scope, tenant, { approvalId: asked.approvalId, about: 'request' });
  return { newApprovalId: asked.approvalId, newRef: asked.ref };
}

/** The arguments as they would be, if they fit the schema of their tool. */
function argumentsAfter(
  tool: ToolDefinition,
  before: JsonObject,
  change: Change,
  argumentsBytes: number,
): Wrong | { values: JsonObject } {
  let values: JsonObject;
  if (change.kind === 'pairs') {
    const read = readChanges(tool, change.pairs);
    if ('why' in read) return { problem: read.why, name: read.name };
    values = { ...before, ...read.values };
  } else {
    values = change.arguments;
  }
  if (!isPlainJsonObject(values) || JSON.stringify(values).length > argumentsBytes)
    return { problem: 'invalid' };
  const missing = missingArguments(tool, values);
  const { extra, invalid } = schemaFindings(tool.inputSchema, values);
  const findings = [
    ...missing.map((name) => ({ name, path: '', rule: 'required' })),
    ...extra.map((name) => ({ name, path: '', rule: 'additionalProperties' })),
    ...invalid.map(findingAt),
  ];
  if (missing[0] !== undefined) return { problem: 'missing', name: missing[0], findings };
  if (extra[0] !== undefined) return { problem: 'unknown_name', name: extra[0], findings };
  if (invalid[0] !== undefined)
    return { problem: 'invalid', name: findingAt(invalid[0]).name || undefined, findings };
  if (canonicalCall(tool.name, values) === canonicalCall(tool.name, before)) return { problem: 'same' };
  return { values };
}

/** `/items/0/count minimum`: a JSON pointer and a keyword. */
function findingAt(place: string): EditFinding {
  const end = place.lastIndexOf(' ');
  const [, first = '', ...deeper] = place.slice(0, end).split('/');
  const name = first.replaceAll('~1', '/').replaceAll('~0', '~');
  return { name, path: deeper.map((part) => `/${part}`).join(''), rule: place.slice(end + 1) };
}

/** What the other arguments are asked under: policy may want other people for them, or more. */
function termsAfter(
  { tenant, editable, turn, chat }: Edit,
  tool: ToolDefinition,
  values: JsonObject,
): ApprovalTerms {
  const policy = policyOfCall(tenant, { tool, arguments: values, turn, chat });
  const bound = {
    argumentsHash: hashOfCall(tool.name, values),
    configHash: hashOfTerms(tenant.configuration, tool.name),
  };
  // Asked for once, it stays asked for, also where policy would let the new arguments pass.
  if (policy.gate !== 'approve') return { ...editable.terms, ...bound };
  const { rule, approvers, needed, onExpiry, remindAfterMinutes, explanation } = policy;
  // No yes is waited for beyond the decision that it continues.
  const expiresAt = new Date(
    Math.min(Date.now() + policy.expiresAfterMinutes * 60_000, turn.decision.expiresAt),
  );
  const remindAt =
    remindAfterMinutes === undefined ? undefined : new Date(Date.now() + remindAfterMinutes * 60_000);
  const asked = { tool: tool.name, rule, approvers, needed, onExpiry, expiresAt, remindAt };
  return { ...asked, policy: explanation, ...bound };
}

async function requestKeyOf({ scope, turn, step }: Edit, values: JsonObject): Promise<Uint8Array> {
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, turn.contactId);
  return scope.content.requestKeyOf(key, canonicalCall(step.tool, values));
}
