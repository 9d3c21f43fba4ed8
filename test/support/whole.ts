/** Whether long tests take the whole of what they otherwise take a part of (test/README.md). */
export function isWhole(): boolean {
  return process.env['AROKO_TEST_WHOLE'] === '1';
}
