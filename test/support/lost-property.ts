// A provider that the product doesn't have: what somebody writes who adds a tool with a system of its own.
import type { ToolProvider } from '../../activities/tools/provider.js';

export function createLostProperty(shelf: Record<string, string>): ToolProvider {
  return {
    resultsAreUntrusted: false,
    operations: {
      lookUp: {
        async call({ arguments: values }) {
          const thing = typeof values['thing'] === 'string' ? values['thing'] : '';
          const place = shelf[thing];
          return {
            found: place !== undefined,
            summary: place === undefined ? `No ${thing} was brought to us.` : `The ${thing} is ${place}.`,
          };
        },
      },
    },
  };
}
