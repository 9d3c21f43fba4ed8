import assert from 'node:assert/strict';
import { createLexicalDetector } from '../../../activities/detection/lexical-detector.js';
import { loadConfiguration } from '../../../config/load.js';
import { firstMatch, phrasesOf } from '../../../config/phrases.js';
import type { ToolDefinition } from '../../../workflows/domain/tool.js';
import { normalChat, requests } from './kit.js';

const tenant = loadConfiguration({ directory: 'config' }).tenants.get('harbour-desk') ?? assert.fail();
const tools = tenant.tools.filter(({ enabled }) => enabled);
const detector = createLexicalDetector(tenant, tools);
const detect = (text: string, recentTools: string[] = []) => detector.detect({ text, recentTools });

describe('the detector with the sample catalogue', () => {
  for (const text of [
    'Hello!',
    'thanks',
    'okay',
    'explain this',
    'rewrite this',
    'what did I say before?',
    'do you remember my friend?',
    'continue',
  ]) {
    it(`takes "${text}" for normal chat`, () => {
      assert.deepEqual(detect(text).candidates, []);
      assert.deepEqual(
        detect(
          text,
          tools.map(({ name }) => name),
        ).candidates,
        [],
      );
    });
  }

  it('has a kit of at least 300 utterances in seven languages', () => {
    const kit = normalChat();
    assert.deepEqual(Object.keys(kit).sort(), ['en', 'es', 'ha', 'pcm', 'pt', 'tr', 'yo']);
    assert.ok(Object.values(kit).flat().length >= 300);
    for (const [language, texts] of Object.entries(kit)) {
      assert.ok(texts.length >= 25, language);
      assert.equal(new Set(texts).size, texts.length, language);
    }
  });

  for (const [language, texts] of Object.entries(normalChat())) {
    it(`keeps the whole normal chat kit in ${language} from the planner`, () => {
      const flagged = texts.flatMap((text) => {
        const { candidates, because } = detect(text);
        return candidates.length === 0 ? [] : [`${text} → ${candidates[0]?.tool}: ${because}`];
      });
      assert.deepEqual(flagged, []);
    });
  }

  it('lets no earlier gate take the kit for something else', () => {
    const lists = ['privateAccount', 'transactionalSupport'] as const;
    const texts = [...Object.values(normalChat()).flat(), ...requests().map(({ text }) => text)];
    const taken = texts.flatMap((text) =>
      lists.flatMap((list) => {
        const phrase = firstMatch(text, phrasesOf(tenant.phrases, list));
        return phrase === undefined ? [] : [`${text} → ${list}: ${phrase}`];
      }),
    );
    assert.deepEqual(taken, []);
  });

  it('hears no follow-up in the kit, and flags none of it right after a result either', () => {
    const recent = tools.map(({ name }) => name);
    const taken = Object.values(normalChat())
      .flat()
      .filter(
        (text) => detector.followUpIn(text) !== undefined || detect(text, recent).candidates.length > 0,
      );
    assert.deepEqual(taken, []);
  });

  for (const text of [
    'How about you?',
    'peki ya sen?',
    'wetin about you?',
    'can we talk later instead?',
    'bunu yeniden yaz',
    'rewrite that one',
    'Hablamos más tarde',
    'I love that book, but how about we talk about the weather and the sea and the boats instead?',
  ]) {
    it(`hears no follow-up in "${text}"`, () => {
      assert.equal(detector.followUpIn(text), undefined);
    });
  }

  for (const text of [
    'What about Sunday?',
    'Thanks! And what about Sunday?',
    'the second one please',
    'compare those',
    'Is there anything earlier?',
    'peki ya pazar?',
    '¿Y el sábado?',
  ]) {
    it(`hears a follow-up in "${text}"`, () => {
      assert.ok(detector.followUpIn(text));
    });
  }

  it('flags requests, the right tool first', () => {
    const kit = requests();
    assert.ok(kit.length >= 60);
    const wrong = kit.flatMap(({ text, tools: expected }) => {
      const { candidates, because } = detect(text);
      const [best] = candidates;
      return best && expected.includes(best.tool) ? [] : [`${text} → ${best?.tool ?? 'chat'}: ${because}`];
    });
    assert.deepEqual(wrong, []);
  });

  it('tells a request from talk by its form, not by its words', () => {
    assert.equal(detect('Book 10:30 please').candidates[0]?.tool, 'reserve_slot');
    for (const text of ['I love that book', 'my free time is short', 'are you free to talk about my day?']) {
      assert.deepEqual(detect(text).candidates, [], text);
    }
  });

  it('finds the request among other sentences', () => {
    const { candidates } = detect(
      'Hi! What a day, I read a good book on the ferry. Book 10:30 please. Thanks!',
    );
    assert.equal(candidates[0]?.tool, 'reserve_slot');
  });

  it('gives reasons that a person can read', () => {
    assert.match(detect('Book 10:30 please').because, /asks for something .*"book".*time/);
    assert.equal(detect('thanks!').because, 'small talk');
    assert.equal(detect('do you remember my friend?').because, 'about the chat itself: "do you remember"');
    assert.match(detect('I love that book').because, /talk|below/);
  });

  it('answers the same whatever the order of the tools', () => {
    const turned = createLexicalDetector(tenant, [...tools].reverse());
    for (const { text } of requests()) {
      assert.deepEqual(turned.detect({ text, recentTools: [] }), detect(text), text);
    }
  });
});

describe('the detector’s scores', () => {
  it('stay where they are while the catalogue grows with tools about other things', () => {
    const small = detect('Book 10:30 please').candidates[0]?.score ?? assert.fail();
    for (const size of [12, 50, 500]) {
      const grown = createLexicalDetector(tenant, [...tools, ...otherTools(size - tools.length)]);
      const [best] = grown.detect({ text: 'Book 10:30 please', recentTools: [] }).candidates;
      assert.equal(best?.tool, 'reserve_slot');
      assert.ok(best.score > small * 0.7 && best.score < small * 1.3, `${size}: ${best.score} for ${small}`);
    }
  });

  it('need no second tool to be meaningful', () => {
    const alone = createLexicalDetector(
      tenant,
      tools.filter(({ name }) => name === 'reserve_slot'),
    );
    assert.equal(alone.detect({ text: 'Book 10:30 please', recentTools: [] }).candidates.length, 1);
    assert.deepEqual(alone.detect({ text: 'I love that book', recentTools: [] }).candidates, []);
  });

  it('are empty for an empty catalogue', () => {
    assert.deepEqual(
      createLexicalDetector(tenant, []).detect({ text: 'Book 10:30', recentTools: [] }).candidates,
      [],
    );
  });

  it('hold work on words back unless a tool is there for it', () => {
    const [template = assert.fail()] = tools;
    const translator: ToolDefinition = {
      ...template,
      name: 'translate_document',
      description: 'Translates a document by a sworn translator.',
      aliases: [],
      triggerPhrases: ['translate my document'],
      examples: ['Translate my contract into German'],
      tags: ['translation'],
      whenToUse: 'A document has to be translated officially.',
    };
    const text = 'Please translate my document into German';
    assert.deepEqual(detect(text).candidates, []);
    const withTranslator = createLexicalDetector(tenant, [...tools, translator]);
    assert.equal(withTranslator.detect({ text, recentTools: [] }).candidates[0]?.tool, 'translate_document');
    assert.deepEqual(withTranslator.detect({ text: 'translate this', recentTools: [] }).candidates, []);
  });
});

/** Tools with made-up words: they share nothing with any message. */
function otherTools(count: number): ToolDefinition[] {
  const [template = assert.fail()] = tools;
  return Array.from({ length: count }, (_, index) => ({
    ...template,
    name: `zor${index}_glim${index % 7}`,
    description: `Glims the zor number ${index} of the vlad.`,
    whenToUse: `A zor${index} is to be glimmed.`,
    aliases: [`zor ${index}`],
    triggerPhrases: [`glim zor${index}`],
    tags: ['zor'],
    examples: [`Glim zor${index} now`],
  }));
}
