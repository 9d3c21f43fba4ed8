import assert from 'node:assert/strict';
import { loadConfiguration } from '../../config/load.js';
import { isOnly, matchesAny, phrasesOf, sentence, type PhraseBook } from '../../config/phrases.js';

const tenant = loadConfiguration({ directory: './config' }).tenants.get('harbour-desk') ?? assert.fail();
const english: PhraseBook = tenant.phrases['en'] ?? assert.fail();

describe('phrases', () => {
  const rows: [text: string, phrase: string, matches: boolean][] = [
    ['What’s the date?', "what's the date", true],
    ['WHATS THE DATE', "what's the date", true],
    ['book it', 'book', true],
    ['my bookshelf', 'book', false],
    ['ＢＯＯＫ please', 'book', true],
    ['café', 'cafe', true],
    ['IADE ISTIYORUM', 'iade istiyorum', true],
    ['İade İstiyorum', 'iade istiyorum', true],
    ['kartim reddedildi', 'kartım reddedildi', true],
    ['KARTIM REDDEDİLDİ', 'kartım reddedildi', true],
    ['tesekkurler', 'teşekkürler', true],
    ['Pazartesi 9’a randevu', 'randevu', true],
    ['randevular', 'randevu', false],
    ['', 'book', false],
    ['book', '?', false],
  ];
  for (const [text, phrase, matches] of rows) {
    it(`${JSON.stringify(text)} ${matches ? 'holds' : 'does not hold'} "${phrase}"`, () => {
      assert.equal(matchesAny(text, [phrase]), matches);
    });
  }

  it('tells small talk from a request that begins with it', () => {
    const smallTalk = phrasesOf(tenant.phrases, 'smallTalk');
    for (const text of ['Hi!', 'ok, thanks 🙏', 'Thank you so much', 'Merhaba, nasılsınız?', 'continue']) {
      assert.equal(isOnly(text, smallTalk), true, text);
    }
    for (const text of ['hi, book 9:00', 'ok book it', 'Is anything free on Saturday morning?', '', '🙏']) {
      assert.equal(isOnly(text, smallTalk), false, text);
    }
  });

  it('hears the gates in both languages', () => {
    const hears = (key: Parameters<typeof phrasesOf>[1], text: string): boolean =>
      matchesAny(text, phrasesOf(tenant.phrases, key));
    assert.ok(hears('privateAccount', 'How much do I owe you?'));
    assert.ok(hears('privateAccount', 'BORCUM NE KADAR'));
    assert.ok(hears('transactionalSupport', 'you charged me twice!'));
    assert.ok(hears('negative', 'do you remember my friend?'));
    assert.ok(hears('negative', 'What did I say before?'));
    assert.ok(hears('followUp', 'what about Saturday?'));
    assert.ok(isOnly('Hi, what day is it?', [...phrasesOf(tenant.phrases, 'currentDate'), 'hi']));
    assert.ok(!isOnly('What time is it free?', phrasesOf(tenant.phrases, 'currentDate')));
  });

  it('keeps what customers of the desk ask for out of the gates', () => {
    const closed = ['privateAccount', 'transactionalSupport', 'negative'] as const;
    for (const text of tenant.tools.flatMap(({ examples }) => examples)) {
      for (const key of closed)
        assert.ok(!matchesAny(text, phrasesOf(tenant.phrases, key)), `${text} ${key}`);
      assert.ok(!isOnly(text, phrasesOf(tenant.phrases, 'smallTalk')), text);
    }
  });
});

describe('a sentence', () => {
  it('is filled with its values', () => {
    assert.equal(
      sentence(english, 'currentDate', { date: 'Monday', time: '9:05' }),
      "It's Monday, 9:05 here.",
    );
  });

  it('leaves a part out when its value is absent or empty', () => {
    const bare = sentence(english, 'notApproved');
    assert.doesNotMatch(bare, /[[\]{}]|reason/);
    assert.equal(sentence(english, 'notApproved', { reason: '' }), bare);
    assert.match(sentence(english, 'notApproved', { reason: 'we are full' }), /"we are full"\./);
  });

  it('takes values as they are, whatever they hold', () => {
    const odd = '[x] {date} $& $1';
    assert.ok(sentence(english, 'missingArguments', { missing: odd }).includes(odd));
  });
});
