// One natural question for everything that is missing.
import type { Parameter } from './parameters.js';
import { capitalized, humanLabel, joinList } from './words.js';

/** Longer descriptions are explanations, not names of things. */
const LONGEST_LABEL_WORDS = 7;

/** "Which day and what time would you like?" */
export function questionFor(missing: Parameter[]): string {
  const isOnly = (parameter: Parameter): boolean =>
    missing.filter((other) => other.kind === parameter.kind).length === 1;
  const wishes = missing.filter((parameter) => parameter.kind !== 'text' && parameter.kind !== 'boolean');
  const facts = missing.filter((parameter) => !wishes.includes(parameter));
  const sentences = [
    ...(wishes.length > 0
      ? [`${joinList(wishes.flatMap((parameter) => wish(parameter, isOnly(parameter))))} would you like?`]
      : []),
    ...(facts.length > 0 ? [factQuestion(facts, wishes.length > 0)] : []),
  ];
  return sentences.map(capitalized).join(' ');
}

function wish(parameter: Parameter, isOnly: boolean): string | string[] {
  const label = labelOf(parameter);
  switch (parameter.kind) {
    case 'date':
      return isOnly ? 'which day' : `which day (${label})`;
    case 'time':
      return isOnly ? 'what time' : `what time (${label})`;
    case 'dateTime':
      return isOnly ? ['which day', 'what time'] : `which day and time (${label})`;
    case 'choice':
      return `which ${label} (${joinList(parameter.choices.map(humanLabel), 'or')})`;
    case 'number':
      return /^(?:number of|how many)\s/.test(label)
        ? `how many ${label.replace(/^(?:number of|how many)\s/, '')}`
        : `what ${label}`;
    default:
      return `what ${label}`;
  }
}

function factQuestion(facts: Parameter[], isSecond: boolean): string {
  const labels = joinList(facts.map((parameter) => withArticle(labelOf(parameter))));
  return isSecond ? `And please tell me ${labels}.` : `Could you tell me ${labels}, please?`;
}

function withArticle(label: string): string {
  return /^(?:where|when|who|what|which|how|why|whether|your)\b/.test(label) ? label : `the ${label}`;
}

/** The start of the description, as far as it is a name; else the parameter's own name. */
function labelOf(parameter: Parameter): string {
  const start = (parameter.description.split(/[.,;:({]/)[0] ?? '').trim().replace(/^(?:the|a|an)\s+/i, '');
  const isName = start !== '' && start.split(/\s+/).length <= LONGEST_LABEL_WORDS;
  return isName ? start.charAt(0).toLowerCase() + start.slice(1) : humanLabel(parameter.name);
}
