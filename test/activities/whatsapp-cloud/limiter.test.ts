import assert from 'node:assert/strict';
import { createSendLimiter, type SendLimiter } from '../../../activities/whatsapp-cloud/limiter.js';

describe('the limiter', () => {
  let at = 0;
  let limiter: SendLimiter;
  beforeEach(() => {
    at = 0;
    limiter = createSendLimiter(() => at);
  });
  const send = (recipient: string, perSecond = 1_000): number =>
    limiter.take({ accountKey: 'n', recipient, perSecond });

  it('lets 45 messages to one person go at once, and then one in six seconds', () => {
    for (let count = 0; count < 45; count += 1) assert.equal(send('a'), 0);
    assert.equal(send('a'), 6_000);
    at += 5_999;
    assert.equal(send('a'), 1);
    at += 1;
    assert.equal(send('a'), 0);
    assert.equal(send('a'), 6_000);
  });

  it('fills up again to 45 and no further', () => {
    for (let count = 0; count < 45; count += 1) send('a');
    at += 24 * 60 * 60 * 1_000;
    for (let count = 0; count < 45; count += 1) assert.equal(send('a'), 0);
    assert.ok(send('a') > 0);
  });

  it('keeps people and numbers apart', () => {
    for (let count = 0; count < 46; count += 1) send('a');
    assert.equal(send('b'), 0);
    assert.equal(limiter.take({ accountKey: 'other', recipient: 'a', perSecond: 80 }), 0);
  });

  it('keeps a number below what it is allowed in a second, however many people it writes to', () => {
    for (let count = 0; count < 80; count += 1) assert.equal(send(`p${count}`, 80), 0);
    assert.equal(send('next', 80), 13);
    at += 500;
    let sent = 0;
    while (send(`q${sent}`, 80) === 0) sent += 1;
    assert.equal(sent, 40);
  });

  it('takes nothing where it says that there is no place', () => {
    for (let count = 0; count < 45; count += 1) send('a');
    for (let count = 0; count < 100; count += 1) send('a');
    at += 6_000;
    assert.equal(send('a'), 0);
  });
});
