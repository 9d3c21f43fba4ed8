// Which rule decides a call, and why each earlier one doesn't: in words, from configuration alone. Shows the arguments that
// it was given, so it is for a terminal.
import type { TenantConfiguration } from '../../config/configuration.js';
import {
  decideByPolicy,
  tryRules,
  type OverruledFor,
  type PolicyQuestion,
  type RuleTrial,
} from '../../config/policy.js';

export function explainPolicy(configuration: TenantConfiguration, question: PolicyQuestion): string {
  const trials = tryRules(configuration, question);
  const answer = decideByPolicy(configuration, question);
  const decisive = trials.find(({ outcome }) => outcome === 'decides');
  return [
    ...trials.flatMap((trial, index) => trialInWords(trial, index + 1)),
    ...(decisive ? [] : [`No rule is left. ${answer.rule}`]),
    '',
    ...answerInWords(configuration, answer),
  ].join('\n');
}

const OVERRULED: Record<OverruledFor, string> = {
  untrusted_content: 'untrusted content may have suggested this',
  group: 'in a group anybody could give the requester’s yes',
};

const SIGNS: Record<RuleTrial['outcome'], string> = {
  decides: 'decides',
  passed_over: 'does not match',
  overruled: 'matches, and is overruled',
  skipped: 'matches, and is skipped: only an owner’s yes is looked for by now',
};

function trialInWords({ rule, findings, outcome, overruledFor }: RuleTrial, number: number): string[] {
  const why = overruledFor === undefined ? '' : `: ${OVERRULED[overruledFor]}`;
  return [
    `${number}. ${rule.name} (${rule.then}): ${SIGNS[outcome]}${why}`,
    ...findings
      .filter(({ holds }) => outcome !== 'passed_over' || !holds)
      .map(
        ({ condition, holds, wanted, found }) =>
          `     ${holds ? '✓' : '✗'} ${condition}: wants ${wanted}, is ${found}`,
      ),
    ...(findings.length === 0 ? ['     ✓ no condition: matches every call'] : []),
  ];
}

function answerInWords(
  { owners, policy }: TenantConfiguration,
  answer: ReturnType<typeof decideByPolicy>,
): string[] {
  const { gate, rule, approvers, needed, expiresAfterMinutes, remindAfterMinutes, onExpiry } = answer;
  const lines = [`${gate.toUpperCase()} by ${rule}`];
  if (gate === 'approve') {
    const ids = approvers.length > 0 ? approvers : owners.map(({ id }) => id);
    const names = ids.map((id) => owners.find((owner) => owner.id === id)?.name ?? id);
    lines.push(
      `  who:     ${names.length === 1 ? '' : `${needed} of `}${names.join(', ')}`,
      `  where:   ${policy.surfaces.join(', ')}`,
    );
  }
  if (gate === 'confirm') lines.push('  who:     whoever asked for it, in the same chat');
  if (gate === 'approve' || gate === 'confirm') {
    lines.push(
      `  expires: after ${expiresAfterMinutes} min; then ${onExpiry === 'handOff' ? 'a person takes over' : 'the customer hears that nothing was done'}`,
      `  reminds: ${remindAfterMinutes === undefined ? 'nobody' : `after ${remindAfterMinutes} min`}`,
    );
  }
  return lines;
}
