// Messages that are talk as a whole, whatever tools there are, and the short ones that go on about a result. Both the
// detector and the follow-up gate ask here first: what is small talk for one is small talk for the other.
import { wordsOf, type PhraseBook } from '../../config/phrases.js';
import { phraseSetOf } from './phrase-set.js';
import type { SentenceReader } from './sentences.js';

export interface TalkReader {
  /** Why the whole message is talk; absent: its sentences have to be read. */
  reasonOf(text: string): string | undefined;
  /** The phrase by which the message goes on about something said before; absent: it doesn't. */
  followUpIn(text: string): string | undefined;
}

/** "And what about the second one on Saturday, is it still free?" Longer ones say by themselves what they are about. */
const FOLLOW_UP_WORDS = 12;

export function createTalkReader(input: {
  phrases: Record<string, PhraseBook>;
  sentences: SentenceReader;
}): TalkReader {
  const { phrases, sentences } = input;
  const smallTalk = phraseSetOf(phrases, 'smallTalk');
  const negative = phraseSetOf(phrases, 'negative');
  const followUps = phraseSetOf(phrases, 'followUp');

  return { reasonOf, followUpIn };

  function reasonOf(text: string): string | undefined {
    const said = wordsOf(text);
    if (smallTalk.covers(said)) return 'small talk';
    const about = negative.find(said);
    return about === undefined ? undefined : `about the chat itself: "${about}"`;
  }

  function followUpIn(text: string): string | undefined {
    if (wordsOf(text).length > FOLLOW_UP_WORDS || reasonOf(text) !== undefined) return undefined;
    for (const { words, form, head, isTextWork } of sentences.read(text)) {
      if (form === 'talk') continue;
      const said = words.map((word) => word.text);
      // "Summarize that" is about the result where the phrase itself says so; "rewrite that one" is work on words.
      const phrase = isTextWork ? followUps.at(said, head)?.phrase : followUps.find(said);
      if (phrase !== undefined) return phrase;
    }
    return undefined;
  }
}
