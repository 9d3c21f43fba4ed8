// One natural question for everything that is missing.
import type { Kind, Parameter } from './parameters.js';
import { capitalized, humanLabel, joinList } from './words.js';

/** Longer descriptions are explanations, not names of things. */
const LONGEST_LABEL_WORDS = 7;

/** "Which day and what time would you like?" */
export function questionFor(missing: Parameter[]): string {
  const isWish = ({ kind }: Parameter): boolean => {
    if (kind === 'text' || kind === 'boolean') return false;
    // Of two days each needs its own name.
    return !MOMENTS.includes(kind) || missing.filter((other) => other.kind === kind).length === 1;
  };
  const wishes = missing.filter(isWish);
  const facts = missing.filter((parameter) => !wishes.includes(parameter));
  const sentences = [
    ...(wishes.length > 0 ? [`${joinList(wishes.flatMap(wish))} would you like?`] : []),
    ...(facts.length > 0 ? [factQuestion(facts, wishes.length > 0)] : []),
  ];
  return sentences.map(capitalized).join(' ');
}

const MOMENTS: Kind[] = ['date', 'time', 'dateTime'];

function wish(parameter: Parameter): string | string[] {
  const label = labelOf(parameter);
  switch (parameter.kind) {
    case 'date':
      return 'which day';
    case 'time':
      return 'what time';
    case 'dateTime':
      return ['which day', 'what time'];
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
