// What a sentence does: asks us to do something, asks a question, or tells. The same words are a request in one and small
// talk in the other ("book me something", "I love that book"), so evidence counts by the form it stands in.
import type { PhraseBook } from '../../config/phrases.js';
import { phraseSetOf } from './phrase-set.js';
import type { Word, WordReader } from './words.js';

export type Form = 'request' | 'question' | 'statement' | 'talk';

export interface Sentence {
  words: readonly Word[];
  form: Form;
  /** The phrase that makes it this form, for the reasons. */
  by: string | undefined;
  /** The first word of what is asked for: after "hi", "please" and "can you". */
  head: number;
  /** Begins with work on words ("write", "translate"): talk, unless a tool is there for just that. */
  isTextWork: boolean;
  /** The part before a comma, read by itself: counts only where it asks for something. */
  isOpening: boolean;
}

export interface SentenceReader {
  read(text: string): Sentence[];
}

/** Where people end a thought; times, dates and decimals (10.30) stay whole. */
const BREAK = /[!?…\n;]+|\.(?=\s|$)/u;

export function createSentenceReader(input: {
  phrases: Record<string, PhraseBook>;
  words: WordReader;
}): SentenceReader {
  const { phrases, words } = input;
  const smallTalk = phraseSetOf(phrases, 'smallTalk');
  const requests = phraseSetOf(phrases, 'requestForms');
  const questions = phraseSetOf(phrases, 'questionForms');
  const talk = phraseSetOf(phrases, 'talkForms');
  const textWork = phraseSetOf(phrases, 'textWork');
  const starts = phraseSetOf(phrases, 'commandStarts');
  const ends = phraseSetOf(phrases, 'commandEnds');

  return {
    read: (text) =>
      parts(text)
        .map(({ part, ...rest }) => ({ read: words.read(part), ...rest }))
        .filter(({ read }) => read.length > 0 && !smallTalk.covers(read.map(({ text: word }) => word)))
        .map(({ read, isQuestion, isOpening }) => ({ ...sentenceOf(read, isQuestion), isOpening })),
  };

  function sentenceOf(read: Word[], isQuestion: boolean): Omit<Sentence, 'isOpening'> {
    const texts = read.map(({ text }) => text);
    const head = headOf(texts);
    const isTextWork = textWork.at(texts, head) !== undefined;
    const made = (form: Form, by: string | undefined): Omit<Sentence, 'isOpening'> => ({
      words: read,
      form,
      by,
      head,
      isTextWork,
    });
    const chat = talk.find(texts);
    if (chat !== undefined) return made('talk', chat);
    const command = starts.at(texts, head)?.phrase ?? ends.endOf(texts);
    const request = requests.find(texts) ?? command;
    if (request !== undefined) return made('request', request);
    const question = questions.find(texts);
    if (question !== undefined || isQuestion) return made('question', question);
    return made('statement', undefined);
  }

  /** Skips greetings and request forms from the left, one after another. */
  function headOf(texts: readonly string[]): number {
    let head = 0;
    for (;;) {
      const skipped = requests.at(texts, head) ?? smallTalk.at(texts, head);
      if (!skipped || head + skipped.length >= texts.length) return head;
      head += skipped.length;
    }
  }
}

function parts(text: string): { part: string; isQuestion: boolean; isOpening: boolean }[] {
  const marks = [...text.matchAll(new RegExp(BREAK, 'gu'))];
  let from = 0;
  const found = marks.map((mark) => {
    const part = text.slice(from, mark.index);
    from = mark.index + mark[0].length;
    return { part, isQuestion: mark[0].includes('?') };
  });
  return [...found, { part: text.slice(from), isQuestion: false }].flatMap((whole) => [
    { ...whole, isOpening: false },
    ...openingOf(whole.part).map((part) => ({ part, isQuestion: false, isOpening: true })),
  ]);
}

/** People ask first and explain after a comma ("Book Friday at 2, it squeaks"): the opening is read by itself as well. */
function openingOf(part: string): string[] {
  const [opening, ...rest] = part.split(/,\s/);
  return opening !== undefined && rest.length > 0 ? [opening] : [];
}
