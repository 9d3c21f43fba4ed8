import { isOnly, phrasesOf } from '../../../config/phrases.js';
import { nowForPeople } from '../../clock.js';
import type { TurnGate } from '../turn-context.js';
import { say } from '../../sentences.js';

/** "What day is it?" is answered by a clock in the business's time zone, not by a model that guesses. */
export const currentDate: TurnGate = {
  name: 'current_date',
  decide(turn) {
    const { configuration } = turn.tenant;
    const { phrases } = configuration;
    const asks = phrasesOf(phrases, 'currentDate');
    // Nothing else may be asked: "what time is it possible to come?" is not about the clock.
    if (isOnly(turn.text, phrasesOf(phrases, 'smallTalk'))) return undefined;
    if (!isOnly(turn.text, [...asks, ...phrasesOf(phrases, 'smallTalk')])) return undefined;
    const text = say(turn.tenant, 'currentDate', nowForPeople(configuration.business));
    return { kind: 'fixed', as: 'answer', text, because: 'asks for the date' };
  },
};
