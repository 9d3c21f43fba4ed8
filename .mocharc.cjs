// Test files are TypeScript modules. Loaded by require() they would get the CommonJS side of packages that have none, so
// mocha is kept from using it. A run ends although something that it started still lives (`exit`): a hook that runs out
// of time would otherwise keep it waiting for ever.
module.exports = {
  'node-option': ['import=tsx', 'no-experimental-require-module'],
  extension: ['ts'],
  reporter: 'test/support/reporter.ts',
  timeout: 120_000,
  exit: true,
};
