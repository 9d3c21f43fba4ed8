// What each way of going wrong means for the message. The line between "nothing was sent" and "nobody knows" is the one that
// keeps messages from being sent twice, so every row says on which side it stands.
import assert from 'node:assert/strict';
import {
  answeredError,
  GRAPH_ERRORS,
  unansweredError,
  type Fault,
  type SendMeaning,
} from '../../../activities/whatsapp-cloud/errors.js';

const ROWS: [code: number, status: number, meaning: SendMeaning, fault: Fault, delaysMs?: number[]][] = [
  [130429, 400, 'busy', 'account', [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]],
  [131056, 400, 'busy', 'recipient', [1_000, 4_000, 16_000, 64_000, 256_000, 256_000]],
  [80007, 400, 'busy', 'account', [60_000, 120_000, 240_000, 480_000, 900_000]],
  [4, 400, 'busy', 'account', [60_000, 120_000]],
  [613, 400, 'busy', 'account', [60_000]],
  [131057, 500, 'busy', 'platform', [30_000, 45_000]],
  [131047, 400, 'window', 'recipient'],
  [131026, 400, 'failed', 'recipient'],
  [131049, 400, 'failed', 'recipient'],
  [131050, 400, 'failed', 'recipient'],
  [130472, 400, 'failed', 'recipient'],
  [131021, 400, 'failed', 'request'],
  [131030, 400, 'failed', 'account'],
  [131062, 400, 'failed', 'request'],
  [0, 401, 'failed', 'account'],
  [190, 401, 'failed', 'account'],
  [3, 500, 'failed', 'account'],
  [10, 403, 'failed', 'account'],
  [200, 403, 'failed', 'account'],
  [294, 403, 'failed', 'account'],
  [131005, 403, 'failed', 'account'],
  [368, 403, 'failed', 'account'],
  [131031, 403, 'failed', 'account'],
  [131042, 400, 'failed', 'account'],
  [131048, 400, 'failed', 'account'],
  [133010, 400, 'failed', 'account'],
  [33, 400, 'failed', 'account'],
  [100, 400, 'failed', 'request'],
  [131008, 400, 'failed', 'request'],
  [131009, 400, 'failed', 'request'],
  [131051, 400, 'failed', 'request'],
  [131052, 400, 'failed', 'request'],
  [131053, 400, 'failed', 'request'],
  [132000, 400, 'failed', 'request'],
  [132001, 404, 'failed', 'account'],
  [132005, 400, 'failed', 'request'],
  [132007, 400, 'failed', 'account'],
  [132012, 400, 'failed', 'request'],
  [132015, 400, 'failed', 'account'],
  [132016, 400, 'failed', 'account'],
  [1, 400, 'unknown', 'platform'],
  [2, 503, 'unknown', 'platform'],
  [131000, 500, 'unknown', 'platform'],
  [131016, 500, 'unknown', 'platform'],
  [133004, 503, 'unknown', 'platform'],
];

describe('what the platform answers', () => {
  for (const [code, status, meaning, fault, delaysMs] of ROWS) {
    it(`${code} means ${meaning}`, () => {
      const error = answeredError({ status, code, attempt: 1 });
      assert.deepEqual(
        { meaning: error.meaning, fault: error.fault, code: error.code },
        { meaning, fault, code: String(code) },
      );
      assert.deepEqual(
        delaysMs?.map((_, index) => answeredError({ status, code, attempt: index + 1 }).delayMs),
        delaysMs,
      );
      assert.equal(error.delayMs === undefined, meaning !== 'busy', 'only what is tried again waits');
    });
  }

  it('has a row above for every code that is treated on its own', () => {
    const tested = new Set(ROWS.map(([code]) => code));
    const missing = Object.keys(GRAPH_ERRORS)
      .map(Number)
      .filter((code) => !tested.has(code));
    // Those that are no send's: they only tell a person what a status meant.
    assert.deepEqual(
      missing.sort(),
      [130497, 131037, 131043, 131045, 132068, 132069, 133016, 134011, 135000],
    );
    for (const code of missing) assert.equal(GRAPH_ERRORS[code]?.meaning, 'failed');
  });

  const BY_STATUS: [status: number, isTransient: boolean, meaning: SendMeaning][] = [
    [400, false, 'failed'],
    [400, true, 'busy'],
    [404, false, 'failed'],
    [301, false, 'failed'],
    [429, false, 'busy'],
    [408, false, 'unknown'],
    [500, false, 'unknown'],
    [502, true, 'unknown'],
    [503, false, 'unknown'],
    [200, false, 'unknown'],
  ];
  for (const [status, isTransient, meaning] of BY_STATUS) {
    const what = `${status}${isTransient ? ', called transient,' : ''}`;
    it(`${what} with a code that nobody knows means ${meaning}`, () => {
      assert.equal(answeredError({ status, code: 999_999, isTransient, attempt: 1 }).meaning, meaning);
      assert.equal(answeredError({ status, code: undefined, isTransient, attempt: 1 }).meaning, meaning);
    });
  }
});

describe('a call without an answer', () => {
  const failed = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });
  const coded = (code: string): Error => Object.assign(new Error('x'), { code });

  for (const code of [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'UND_ERR_CONNECT_TIMEOUT',
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
  ]) {
    it(`was never made where there was no connection (${code})`, () => {
      const error = unansweredError(failed(coded(code)), 1);
      assert.deepEqual([error.meaning, error.code], ['busy', 'no_connection']);
    });
  }

  it('was never made where every address of the host refused', () => {
    const both = new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]);
    assert.equal(unansweredError(failed(both), 1).meaning, 'busy');
  });

  for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'SOMETHING_NEW']) {
    it(`may have been heard where the connection broke (${code})`, () => {
      assert.equal(unansweredError(failed(coded(code)), 1).meaning, 'unknown');
    });
  }

  it('may have been heard where the time was over', async () => {
    const timeout = AbortSignal.timeout(1);
    await new Promise((resolve) => timeout.addEventListener('abort', resolve));
    const error = unansweredError(timeout.reason, 1);
    assert.deepEqual([error.meaning, error.code], ['unknown', 'no_answer']);
  });

  it('may have been heard whatever else was thrown', () => {
    assert.equal(unansweredError('a text', 1).meaning, 'unknown');
  });
});
