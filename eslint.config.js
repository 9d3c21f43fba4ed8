// What the compiler doesn't see: promises that nobody waits for, unions that aren't handled in full, and two of the
// tree's own laws (docs/architecture.md). Rules are chosen once, here; a file has no comments that switch one off.

import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const SOURCES = ['**/*.ts', '**/*.tsx'];

export default defineConfig(
  globalIgnores(['dist/', '.aroko/', 'coverage/', 'prisma/generated/', 'test/histories/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
  js.configs.recommended,
  {
    files: SOURCES,
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
);
