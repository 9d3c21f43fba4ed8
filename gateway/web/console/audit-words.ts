// The lines of the audit trail as sentences. Who reads them is the owner: names of events, tools and people in plain words.
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { RunStory } from '../../../prisma/stores/views/run-story.js';
import type { Gate } from '../../../workflows/domain/tool.js';
import { titleOf } from '../components/arguments.js';

export type AuditLine = Pick<RunStory['audit'][number], 'event' | 'actor' | 'facts'>;
type Owners = TenantConfiguration['owners'];

const PLAIN: Record<string, string> = {
  step_succeeded: 'Step done',
  step_failed: 'Step failed',
  step_unknown: 'Step ended with an unknown outcome',
  step_rejected: 'Step not allowed',
  step_refused: 'Step not carried out',
  step_parked: 'Step waits until the assistant may act again',
  approval_expire: 'Expired, nobody answered in time',
  approval_reminded: 'Owners were reminded',
  approval_refused: 'A decision was not taken',
  approval_code_refused: 'A wrong code was not taken',
  run_given_up: 'The run was given up',
  handed_off: 'Handed to a person',
  operator_asked: 'An operator was asked',
  operator_answered: 'The operator answered',
  operator_expired: 'The operator did not answer in time',
  operator_unreached: 'The operator could not be reached',
  message_undelivered: 'A message was not delivered',
  message_unknown: 'A message may not have arrived',
  answer_unusable: 'What the model answered could not be used',
  content_shown: 'The content was read on the command line',
};

const GATES: Record<Gate, string> = {
  allow: 'The policy allows it',
  confirm: 'The policy asks for the customer’s yes',
  approve: 'The policy asks for an owner’s yes',
  deny: 'The policy forbids it',
};

const ASKED_FOR: Record<string, string> = { plan: 'a plan', answer: 'an answer', summarize: 'a summary' };

/** What happened and through whom, in one sentence without its full stop. An event without words is named as it is. */
export function auditInWords(line: AuditLine, owners: Owners): string {
  const { event, facts } = line;
  const person = nameOf(line.actor, owners);
  switch (event) {
    case 'approval_requested':
      return facts['gate'] === 'confirm' ? 'The customer was asked to confirm' : 'Approval was asked for';
    case 'approval_approve':
      return decidedInWords(line, owners, { owner: 'Approved', customer: 'Confirmed' });
    case 'approval_reject':
      return decidedInWords(line, owners, { owner: 'Rejected', customer: 'Declined' });
    case 'model_called': {
      const what = `The model was asked for ${ASKED_FOR[textOf(facts['purpose'])] ?? 'help'}`;
      return facts['outcome'] === 'ok' ? what : `${what} and gave none`;
    }
    case 'login.link_created':
      return `A login link was made for ${nameOf(textOf(facts['ownerId']), owners)}`;
    case 'console.logged_in':
      return `${person} logged in to the console`;
    case 'console.logged_out':
      return `${person} logged out of the console`;
    case 'approval_edit':
      return decidedInWords(line, owners, { owner: 'Edited', customer: 'Changed' });
    case 'policy_decided':
      return gateInWords(textOf(facts['gate']));
    case 'step_settled':
      return `${person} found out that it ${facts['happened'] === true ? 'was done' : 'was not done'}`;
    case 'message_settled':
      return `${person} found out that a message ${facts['as'] === 'sent' ? 'arrived' : 'did not arrive'}`;
    case 'chat_taken':
      return `${person} took the chat over`;
    case 'chat_released':
      return line.actor === 'clock' ? 'The chat went back to the assistant' : `${person} gave the chat back`;
    case 'step_started':
      return Number(facts['attempt'] ?? 1) > 1 ? 'Step started again' : 'Step started';
    default:
      return PLAIN[event] ?? `${titleOf(event.replaceAll('.', ' '))} by ${person}`;
  }
}

/** Where a decision was made: the console has persons, the other surfaces have only themselves. */
function decidedInWords(
  { actor, facts }: AuditLine,
  owners: Owners,
  word: { owner: string; customer: string },
): string {
  switch (facts['surface']) {
    case 'console':
      return `${word.owner} by ${nameOf(actor, owners)} in the console`;
    case 'api':
      return `${word.owner} through the API`;
    case 'temporal':
      return `${word.owner} in Temporal`;
    case 'chat':
      return actor === 'superseded'
        ? 'Dropped, the customer went on to something else'
        : `${word.customer} by the customer in the chat`;
    default:
      return `${word.owner} by ${nameOf(actor, owners)}`;
  }
}

/** An owner's id, alone or as a speaker (`owner:<id>`). */
function nameOf(actor: string, owners: Owners): string {
  const id = actor.replace(/^owner:/, '');
  return owners.find((owner) => owner.id === id)?.name ?? actor;
}

function gateInWords(gate: string): string {
  return isGate(gate) ? GATES[gate] : 'The policy decided';
}

function isGate(gate: string): gate is Gate {
  return Object.hasOwn(GATES, gate);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
