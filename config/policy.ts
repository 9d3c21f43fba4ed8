// Policy as data (spec D2): the first rule that matches decides; without one an effect needs a yes and the unknown is
// denied. Pure: the executing activity, an edited approval and the command that explains a rule all ask here.
import type { OnExpiry } from '../workflows/domain/approval.js';
import type { Gate } from '../workflows/domain/tool.js';
import type { Owner, Policy, PolicyRule, TenantConfiguration } from './configuration.js';
import { findingsOf, type Finding, type PolicyQuestion } from './policy-conditions.js';

export type { Finding, PolicyQuestion } from './policy-conditions.js';

/** What a decision is made under. */
export type PolicyTerms = Pick<TenantConfiguration, 'policy' | 'owners'> & {
  business: Pick<TenantConfiguration['business'], 'timeZone'>;
};

export interface PolicyAnswer {
  gate: Gate;
  /** The name of the rule, or of the default. */
  rule: string;
  /** Who may say yes: ids of owners, and surfaces that know no persons. Empty: every owner, on every surface. */
  approvers: string[];
  /** How many of them have to. */
  needed: number;
  expiresAfterMinutes: number;
  /** Absent: nobody is reminded. */
  remindAfterMinutes?: number;
  onExpiry: OnExpiry;
  explanation: PolicyExplanation;
}

/** Names only, nothing of the call's arguments: it is stored beside the step and audited. */
export interface PolicyExplanation {
  /** The conditions of the rule that decided. */
  matched: string[];
  /** Rules that would have been content with less than an owner's yes, where one is needed (`OverruledFor`). */
  overruled: string[];
  /** The earlier rules, each with its first condition that doesn't hold. */
  passedOver: { rule: string; condition: string }[];
}

/**
 * What takes a rule its effect: untrusted content may have suggested this (spec G9); in a group everybody could give the yes
 * that is the requester's (spec D2).
 */
export type OverruledFor = 'untrusted_content' | 'group';

/** A rule against a call, condition by condition. */
export interface RuleTrial {
  rule: PolicyRule;
  findings: Finding[];
  /**
   * `overruled`: it matches, and would be content with less than an owner's yes where one is needed. What comes after it is
   * asked only for the owners who then have to say yes; other rules that match are `skipped`.
   */
  outcome: 'decides' | 'passed_over' | 'overruled' | 'skipped';
  /** Why it is overruled; absent otherwise. */
  overruledFor?: OverruledFor | undefined;
}

/** Tries the rules in their order, down to the one that decides. */
export function tryRules({ policy, business }: PolicyTerms, question: PolicyQuestion): RuleTrial[] {
  const trials: RuleTrial[] = [];
  let isOverruled = false;
  for (const rule of policy.rules) {
    const findings = findingsOf(rule.when, question, business.timeZone);
    const matches = findings.every(({ holds }) => holds);
    const overruledFor: OverruledFor | undefined =
      matches && !isOverruled ? overruling(rule, question) : undefined;
    const outcome: RuleTrial['outcome'] = !matches
      ? 'passed_over'
      : isOverruled && rule.then !== 'approve'
        ? 'skipped'
        : overruledFor === undefined
          ? 'decides'
          : 'overruled';
    trials.push({ rule, findings, outcome, overruledFor });
    if (outcome === 'decides') break;
    isOverruled ||= outcome === 'overruled';
  }
  return trials;
}

/** Why an owner has to say yes, even where this rule would be content with less. */
function overruling(
  { then }: PolicyRule,
  { tool, isTainted, chatKind }: PolicyQuestion,
): OverruledFor | undefined {
  if (isTainted && tool.effect !== 'read' && (then === 'allow' || then === 'confirm')) {
    return 'untrusted_content';
  }
  return then === 'confirm' && chatKind === 'group' ? 'group' : undefined;
}

export function decideByPolicy(terms: PolicyTerms, question: PolicyQuestion): PolicyAnswer {
  const trials = tryRules(terms, question);
  const decisive = trials.find(({ outcome }) => outcome === 'decides');
  const explanation: PolicyExplanation = {
    matched: decisive?.findings.map(({ condition }) => condition) ?? [],
    overruled: trials.flatMap(({ rule, outcome }) => (outcome === 'overruled' ? [rule.name] : [])),
    passedOver: trials.flatMap(({ rule, findings, outcome }) =>
      outcome === 'passed_over'
        ? [{ rule: rule.name, condition: findings.find(({ holds }) => !holds)?.condition ?? '' }]
        : [],
    ),
  };
  return decisive
    ? answerOf(terms, decisive.rule, explanation)
    : answerWithoutRule(terms, question, {
        explanation,
        overruledFor: trials.find(({ outcome }) => outcome === 'overruled')?.overruledFor,
      });
}

function answerOf(terms: PolicyTerms, rule: PolicyRule, explanation: PolicyExplanation): PolicyAnswer {
  const { policy } = terms;
  const isApproval = rule.then === 'approve';
  const expiresAfterMinutes =
    rule.expiresAfterMinutes ?? (rule.then === 'confirm' ? policy.confirmMinutes : policy.approvalMinutes);
  const remindAfterMinutes =
    rule.remindAfterMinutes ?? (isApproval ? halfOf(expiresAfterMinutes) : undefined);
  return {
    gate: rule.then,
    rule: rule.name,
    approvers: rule.approvers === undefined ? [] : approversOf(terms, rule.approvers),
    needed: rule.needed ?? 1,
    expiresAfterMinutes,
    ...(remindAfterMinutes !== undefined && { remindAfterMinutes }),
    onExpiry: rule.onExpiry ?? 'refuse',
    explanation,
  };
}

function answerWithoutRule(
  { policy }: PolicyTerms,
  { tool }: PolicyQuestion,
  { explanation, overruledFor }: { explanation: PolicyExplanation; overruledFor: OverruledFor | undefined },
): PolicyAnswer {
  const hasEffect = tool.effect === 'reversible' || tool.effect === 'irreversible';
  const needsYes = hasEffect || overruledFor !== undefined;
  return {
    gate: needsYes ? 'approve' : 'deny',
    rule: overruledFor
      ? DEFAULT_OF[overruledFor]
      : hasEffect
        ? 'default: an effect needs a yes'
        : 'default: the unknown is denied',
    approvers: [],
    needed: 1,
    expiresAfterMinutes: policy.approvalMinutes,
    ...(needsYes && { remindAfterMinutes: halfOf(policy.approvalMinutes) }),
    onExpiry: 'refuse',
    explanation,
  };
}

const DEFAULT_OF: Record<OverruledFor, string> = {
  untrusted_content: 'default: what untrusted content may have suggested needs a yes',
  group: 'default: in a group an owner says yes, not the requester',
};

function halfOf(minutes: number): number {
  return minutes / 2;
}

/** Whom a rule's names mean: owners by id or by group, in the order of the owners, then surfaces such as `cli`; each once. */
export function approversOf(
  { owners, policy }: { owners: readonly Pick<Owner, 'id' | 'groups'>[]; policy: Pick<Policy, 'surfaces'> },
  named: readonly string[],
): string[] {
  const ids = owners
    .filter(({ id, groups }) => named.includes(id) || groups.some((group) => named.includes(group)))
    .map(({ id }) => id);
  return [...new Set([...ids, ...policy.surfaces.filter((surface) => named.includes(surface))])];
}
