// Policy as data: the first rule that matches decides; without one an effect needs a yes and the unknown is denied.
import type { Policy, PolicyRule } from '../../config/configuration.js';
import type { Actor, ChatKind, Gate, ToolDefinition } from '../../workflows/domain/tool.js';

export interface PolicyQuestion {
  tool: ToolDefinition;
  actor: Actor;
  chatKind: ChatKind;
  isTainted: boolean;
}

export interface PolicyAnswer {
  gate: Gate;
  /** The name of the rule, or of the default. */
  rule: string;
  expiresAfterMinutes: number;
}

export function decideByPolicy(policy: Policy, question: PolicyQuestion): PolicyAnswer {
  const rule = policy.rules.find((candidate) => matches(candidate, question));
  if (rule) {
    return {
      gate: rule.then,
      rule: rule.name,
      expiresAfterMinutes:
        rule.expiresAfterMinutes ??
        (rule.then === 'confirm' ? policy.confirmMinutes : policy.approvalMinutes),
    };
  }
  const { effect } = question.tool;
  const hasEffect = effect === 'reversible' || effect === 'irreversible';
  return {
    gate: hasEffect ? 'approve' : 'deny',
    rule: hasEffect ? 'default: an effect needs a yes' : 'default: the unknown is denied',
    expiresAfterMinutes: policy.approvalMinutes,
  };
}

/** An absent condition matches everything. */
function matches({ when }: PolicyRule, { tool, actor, chatKind, isTainted }: PolicyQuestion): boolean {
  return (
    (when.effects?.includes(tool.effect) ?? true) &&
    (when.risks?.includes(tool.risk) ?? true) &&
    (when.actors?.includes(actor) ?? true) &&
    (when.tools?.includes(tool.name) ?? true) &&
    (when.chatKinds?.includes(chatKind) ?? true) &&
    (when.tainted === undefined || when.tainted === isTainted)
  );
}
