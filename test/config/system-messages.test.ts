import assert from 'node:assert/strict';
import { createSystemMessageCheck, foldedText, labelsFor } from '../../config/system-messages.js';
import { Copy } from './copy.js';

describe('what the platform itself writes', () => {
  const copy = new Copy();
  const { systemMessages } = copy.load();
  copy.remove();
  const isSystem = createSystemMessageCheck(systemMessages);

  const written = [
    'Messages and calls are end-to-end encrypted. Only people in this chat can read, listen to, or share them. Learn more.',
    'Messages to this chat and calls are now secured with end-to-end encryption. Tap for more info.',
    'Your security code with Ada Lovelace changed. Tap to learn more.',
    'This business uses a secure service from Meta to manage this chat. Tap to learn more.',
    'Missed voice call',
    'Missed group video call at 14:05',
    'Voice call, No answer',
    'Video call, 12 min',
    'Silenced voice call',
    'You deleted this message',
    'This message was deleted.',
    'This message was deleted by admin Ada',
    'Ada turned on disappearing messages. New messages will disappear from this chat 24 hours after they’re sent.',
    'You updated the message timer. New messages will disappear from this chat 7 days after they’re sent.',
    'Live location ended',
    'You are sharing your live location',
    '<Live location>',
    'You sent a payment of ₹100',
    'Payment request sent to Ada',
    'Missed video call, tap to call back',
    '~ Ada added ~ Bo',
    '+90 555 000 00 01 left',
    'You created this group',
    'Ada joined using this group’s invite link',
    'Ada changed the group description',
    'You’re now an admin',
    'You received a view once photo. For added privacy, you can only open it on your phone.',
    'Ada changed their phone number to a new number. Tap to message or add the new number.',
    'You blocked this contact. Tap to unblock.',
    'You received a message but your version of WhatsApp doesn’t support it. Update WhatsApp',
    'Waiting for this message. This may take a while.',
    '<Media omitted>',
    'Mesajlar ve aramalar uçtan uca şifrelidir. Daha fazla bilgi edinin.',
    'Ayşe ile güvenlik kodunuz değişti. Daha fazla bilgi edinmek için dokunun.',
    'Cevapsız sesli arama',
    'CEVAPSIZ GÖRÜNTÜLÜ ARAMA',
    'Sesli arama, Cevap yok',
    'Bu mesaj silindi',
    'Bu mesajı sildiniz.',
    'Ayşe süreli mesajları açtı. Yeni mesajlar gönderildikten 24 saat sonra bu sohbetten kaybolacak.',
    'Canlı konum sona erdi',
    'Ayşe size ödeme gönderdi',
    'Ayşe grubu oluşturdu',
    'Siz gruptan ayrıldınız',
    'Ayşe bu grubun davet bağlantısını kullanarak katıldı',
    'Ayşe grup açıklamasını değiştirdi',
    'Tek seferlik fotoğraf',
    'Ayşe telefon numarasını değiştirdi. Mesaj göndermek için dokunun.',
    'Bu kişiyi engellediniz. Engeli kaldırmak için dokunun.',
    'WhatsApp sürümünüz bu mesajı desteklemiyor.',
    'Mesaj bekleniyor. Bu biraz zaman alabilir.',
    '\u200e<Medya dahil edilmedi>',
  ];
  for (const text of written)
    it(`is known: ${text}`, () => assert.equal(isSystem(text), true, foldedText(text)));

  const said = [
    'Hi!',
    'I missed your call, can you call me back?',
    'Missed voice call from you, sorry! When can I come?',
    'You deleted my appointment by mistake',
    'you removed my booking',
    'Why was this message deleted',
    'My bus left',
    'Ali left his bike at your place',
    'I sent a payment yesterday and it failed',
    'Payment failed',
    'Is the payment request still open?',
    'Where is your live location?',
    'photo',
    'Can you send the video again?',
    'I changed my phone number, please note it',
    'Ayşe randevuyu iptal etti mi?',
    'Cevapsız aramanızı gördüm, beni arar mısınız?',
    'Ödeme yaptım ama görünmüyor',
    'Konum atar mısınız?',
    'Mesajımı sildim, kusura bakmayın',
    'bu mesaj size mi geldi',
    'Fotoğraf gönderdim, baktınız mı?',
    'Gruba beni de ekler misiniz?',
  ];
  for (const text of said) it(`is not: ${text}`, () => assert.equal(isSystem(text), false));

  it('takes no longer for a text that is made to be slow', () => {
    const slow = 'a'.repeat(290);
    const started = process.hrtime.bigint();
    for (let round = 0; round < 50; round += 1) isSystem(`${slow}${round}`);
    const long = 'messages '.repeat(100_000);
    isSystem(long);
    assert.ok(Number(process.hrtime.bigint() - started) / 1e6 < 5_000);
  });

  it('has at least forty patterns, and a name for every kind of message in each language', () => {
    const books = Object.values(systemMessages);
    assert.ok(books.reduce((sum, { patterns }) => sum + patterns.length, 0) >= 40);
    assert.equal(labelsFor(systemMessages, 'tr').image, '[fotoğraf]');
    assert.equal(labelsFor(systemMessages, 'pt').image, '[photo]', 'another language where it has none');
  });
});

describe('a pattern that can’t be right', () => {
  const table: [string, string, string][] = [
    ['has upper case letters', 'Missed call', 'can match nothing'],
    ['has accents', 'sesli aramayı', 'can match nothing'],
    ['looks around', '(?=x)call ended', 'invalid'],
    ['matches anything', '.{0,9}', 'matches a message without a word'],
    ['isn’t closed', 'call (ended', 'missing'],
  ];
  for (const [name, pattern, wrong] of table) {
    it(`is told at the start: one that ${name}`, () => {
      const copy = new Copy();
      try {
        copy.replace('phrases/system.en.yaml', '  - call ended\n', `  - '${pattern}'\n`);
        const [problem, ...others] = copy.problems();
        assert.deepEqual(others, []);
        assert.ok(problem?.file.endsWith('system.en.yaml'));
        assert.match(`${problem?.wrong} ${problem?.path}`, new RegExp(wrong));
        assert.ok((problem?.line ?? 0) > 1);
      } finally {
        copy.remove();
      }
    });
  }
});
