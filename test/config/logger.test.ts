import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { transports } from 'winston';
import { createLogger, errorFacts, type Logger } from '../../config/logger.js';
import { isMapping } from '../../config/merge.js';

function logging(): { log: Logger; lines: () => string[] } {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  const log = createLogger({
    process: 'worker',
    level: 'info',
    destination: new transports.Stream({ stream }),
  });
  return { log, lines: () => written.join('').trim().split('\n') };
}

describe('the logger', () => {
  it('writes one JSON object per event, with the ids of its parents', () => {
    const { log, lines } = logging();
    log
      .child({ tenantId: 't1' })
      .child({ turnId: 'u1' })
      .event('turn.prepared', { candidates: 2, flagged: true });
    log.debug('not.at.this.level');
    assert.equal(lines().length, 1);
    const line: unknown = JSON.parse(lines()[0] ?? '');
    assert.ok(isMapping(line));
    assert.match(String(line['timestamp']), /^\d{4}-/);
    assert.deepEqual(line, {
      timestamp: line['timestamp'],
      level: 'info',
      event: 'turn.prepared',
      process: 'worker',
      tenantId: 't1',
      turnId: 'u1',
      candidates: 2,
      flagged: true,
    });
  });

  it('lets no sentence, content or secret through', () => {
    const { log, lines } = logging();
    log.error('hunter2 is what the customer wrote', { text: 'hunter2', code: 'TOOL_TIMEOUT' });
    log.warn('x', { note2: 'my pin is hunter2', apiToken: 'hunter2', arguments: 'hunter2' });
    log.event('x', { database: 'postgres://app:hunter2@host/db', long: 'hunter2'.repeat(40) });
    log.event('x', { ['a key with hunter2']: 1, loginUrl: 'http://127.0.0.1/login/hunter2' });
    assert.doesNotMatch(lines().join('\n'), /hunter2/);
    assert.match(lines()[0] ?? '', /TOOL_TIMEOUT/);
  });

  it('counts tokens, because a number is no secret', () => {
    const { log, lines } = logging();
    log.event('model.called', { inputTokens: 312 });
    assert.match(lines()[0] ?? '', /"inputTokens":312/);
  });

  it('tells an error by class and code, never by its message', () => {
    const error = Object.assign(new TypeError('hunter2'), { code: 'P2002' });
    assert.deepEqual(errorFacts(error), { errorName: 'TypeError', errorCode: 'P2002' });
    assert.deepEqual(errorFacts('hunter2'), { errorName: 'string' });
  });
});
