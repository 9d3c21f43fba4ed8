import assert from 'node:assert/strict';
import { EnvironmentError, gatewayEnvironment, workerEnvironment } from '../../config/environment.js';

const shared = {
  AROKO_DATABASE_URL: 'postgres://aroko_app:hunter2@127.0.0.1:5433/aroko',
  AROKO_MASTER_KEY_FILE: '.aroko/master-key',
};

function problemsOf(read: () => unknown): EnvironmentError {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof EnvironmentError, String(error));
    return error;
  }
  assert.fail('nothing was wrong');
}

describe('the environment', () => {
  it('of the worker needs three variables; the rest has defaults', () => {
    assert.deepEqual(workerEnvironment({ ...shared, ANTHROPIC_API_KEY: 'local' }), {
      databaseUrl: shared.AROKO_DATABASE_URL,
      temporal: { address: '127.0.0.1:7233', namespace: 'default' },
      masterKeyFile: '.aroko/master-key',
      configDirectory: './config',
      logLevel: 'info',
      anthropic: { apiKey: 'local' },
    });
  });

  it('of the gateway turns text into numbers and switches', () => {
    const env = {
      ...shared,
      AROKO_API_TOKEN_FILE: 't',
      AROKO_GATEWAY_PORT: '0',
      AROKO_ISSUE_LOGIN_LINK: '1',
    };
    const { host, port, issueLoginLink } = gatewayEnvironment(env);
    assert.deepEqual({ host, port, issueLoginLink }, { host: '127.0.0.1', port: 0, issueLoginLink: true });
    assert.equal(gatewayEnvironment({ ...shared, AROKO_API_TOKEN_FILE: 't' }).port, 3000);
  });

  it('takes an empty variable as absent', () => {
    const env = { ...shared, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: '', AROKO_LOG_LEVEL: ' ' };
    assert.equal(workerEnvironment(env).anthropic.baseUrl, undefined);
    assert.equal(workerEnvironment(env).logLevel, 'info');
  });

  it('names all problems at once, each variable once', () => {
    const error = problemsOf(() =>
      gatewayEnvironment({
        AROKO_DATABASE_URL: 'mysql://x',
        AROKO_GATEWAY_PORT: '70000',
        AROKO_LOG_LEVEL: 'loud',
        AROKO_TEMPORAL_ADDRESS: 'http://temporal',
        AROKO_ISSUE_LOGIN_LINK: 'yes',
      }),
    );
    assert.deepEqual(error.problems.map(({ variable, wrong }) => `${variable} ${wrong}`).sort(), [
      'AROKO_API_TOKEN_FILE is missing',
      'AROKO_DATABASE_URL has the wrong form',
      'AROKO_GATEWAY_PORT has the wrong form',
      'AROKO_ISSUE_LOGIN_LINK has the wrong form',
      'AROKO_LOG_LEVEL has the wrong form',
      'AROKO_MASTER_KEY_FILE is missing',
      'AROKO_TEMPORAL_ADDRESS has the wrong form',
    ]);
  });

  it('never shows a value', () => {
    const error = problemsOf(() =>
      workerEnvironment({
        AROKO_DATABASE_URL: 'hunter2',
        ANTHROPIC_BASE_URL: 'sk-hunter2',
        AROKO_LOG_LEVEL: 'hunter2',
      }),
    );
    assert.doesNotMatch(`${error.message} ${JSON.stringify(error)}`, /hunter2/);
  });
});
