// The thirteen error codes: each has a retry class, and a sentence in every language that the assistant speaks.
import assert from 'node:assert/strict';
import { sentence } from '../../config/phrases.js';
import { loadConfiguration } from '../../config/load.js';
import { ERROR_CODES, retryClass, type ErrorCode, type RetryClass } from '../../workflows/domain/failures.js';

const EXPECTED: Record<ErrorCode, RetryClass> = {
  TOOL_UNKNOWN: 'never',
  TOOL_DISABLED: 'never',
  TOOL_NOT_ALLOWED_FOR_ACTOR: 'never',
  TOOL_SCHEMA_INVALID: 'never',
  TOOL_POLICY_DENIED: 'never',
  TOOL_TIMEOUT: 'bounded',
  TOOL_PROVIDER_ERROR: 'bounded',
  TOOL_RESULT_INVALID: 'never',
  ASYNC_ENQUEUE_FAILED: 'never',
  MCP_SERVER_UNAVAILABLE: 'bounded',
  CONNECTOR_UNSUPPORTED_URL: 'never',
  FOLLOWUP_AMBIGUOUS: 'never',
  FOLLOWUP_CONTEXT_EXPIRED: 'never',
};

describe('the error codes', () => {
  const [tenant] = loadConfiguration({ directory: 'config' }).tenants.values();
  assert.ok(tenant);

  it('are thirteen', () => {
    assert.equal(ERROR_CODES.length, 13);
  });

  for (const code of ERROR_CODES) {
    it(`${code} is retried ${EXPECTED[code]}, and is said in every language`, () => {
      assert.equal(retryClass(code), EXPECTED[code]);
      const said = tenant.assistant.languages.map((language) => {
        const book = tenant.phrases[language];
        assert.ok(book, language);
        return sentence(book, code);
      });
      for (const text of said) assert.ok(text.length > 10 && !text.includes('{'), text);
      assert.equal(new Set(said).size, said.length, 'each language says it in its own words');
    });
  }
});
