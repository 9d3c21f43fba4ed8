// Whether a text begins as commands of owners do. What exactly is meant is understood later, in the turn: here it only has
// to be told from talk.
import { phrasesOf, wordsOf, type PhraseBook, type PhraseListKey } from '../../config/phrases.js';

const COMMANDS: readonly PhraseListKey[] = [
  'yes',
  'no',
  'ownerApprove',
  'ownerReject',
  'ownerEdit',
  'ownerList',
  'ownerShow',
  'ownerHappened',
  'ownerNotHappened',
  'ownerPause',
  'ownerResume',
  'ownerStatus',
  'ownerTake',
  'ownerRelease',
  'ownerHelp',
];
/** Signs that mean yes and no in every language, whatever their skin. */
const THUMB = /^\s*(?:👍|👎)(?:\u{1F3FB}|\u{1F3FC}|\u{1F3FD}|\u{1F3FE}|\u{1F3FF}|\uFE0F)*\s*$/u;

/** Made once for the phrases of a business. */
export function createCommandCheck(phrases: Record<string, PhraseBook>): (text: string) => boolean {
  const words = (key: PhraseListKey) =>
    phrasesOf(phrases, key)
      .map(wordsOf)
      .filter((phrase) => phrase.length > 0);
  const commands = COMMANDS.flatMap(words);
  const polite = words('ownerPolite');

  return (text) => {
    if (THUMB.test(text)) return true;
    let rest = wordsOf(text);
    for (;;) {
      if (commands.some((phrase) => beginsWith(rest, phrase))) return true;
      const skipped = Math.max(
        0,
        ...polite.filter((phrase) => beginsWith(rest, phrase)).map(({ length }) => length),
      );
      if (skipped === 0) return false;
      rest = rest.slice(skipped);
    }
  };
}

function beginsWith(words: readonly string[], phrase: readonly string[]): boolean {
  return phrase.every((word, index) => words[index] === word);
}
