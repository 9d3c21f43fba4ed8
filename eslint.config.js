// What the compiler doesn't see: promises that nobody waits for, unions that aren't handled in full, and two laws of this
// tree: what `workflows/` may import, and who may read the environment. Rules are chosen here, once; comments in files
// can't switch them off. Layout is Prettier's.

import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const TYPED = ['**/*.ts', '**/*.tsx'];
/** Programs of their own: they read the environment and hand it on as values. */
const ENTRIES = ['**/main.ts', '**/*-main.ts', 'prisma/generate.js'];

const environmentReaders = [
  {
    object: 'process',
    property: 'env',
    message:
      'Only a main.ts reads the environment (config/environment.ts parses it); take what you need as an argument.',
  },
];

const LAW =
  'workflows/ imports nothing outside itself but @temporalio/workflow and types of @temporalio/common.';

/** The law of `workflows/`, for files that are `depth` folders below it. */
const lawOfWorkflows = (depth) => ({
  patterns: [
    { regex: '^(?!\\.{1,2}/)(?!@temporalio/(workflow|common)$)', message: LAW },
    { regex: '^@temporalio/common$', allowTypeImports: true, message: LAW },
    { regex: `^(\\./)?(\\.\\./){${depth + 1}}`, message: LAW },
  ],
});

export default defineConfig(
  { ignores: ['dist/', '.aroko/', 'coverage/', 'prisma/generated/', 'test/histories/'] },
  { linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'no-restricted-properties': ['error', ...environmentReaders],
      'no-restricted-imports': ['error', { paths: [{ name: 'node:process', importNames: ['env'] }] }],
    },
  },
  { files: ['**/*.js', '**/*.cjs'], languageOptions: { globals: globals.node } },
  { files: ['gateway/web/assets/*.js'], languageOptions: { globals: globals.browser } },
  {
    files: TYPED,
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // A key that no type declares may be written in brackets, which says so.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      // `() => close()` and `return stop()` are clear.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // `[...text]` means code points, which is what we want from it.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // Fastify's plugins and our ports are asynchronous by contract, also where one has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      // A signal's declared type is a promise of somebody else's, and a callback changes a flag while we wait: neither is
      // settled because the compiler believes so.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Factories return closures; nothing here has a `this` to lose, nor a class that has to be made by its constructor.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // It asks for the `!` that another rule refuses.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // A sentence without values takes none: where a type comes out empty, that is meant.
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      // An index signature names its key; an object type that crosses to JSON has to be a `type`.
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
    },
  },
  {
    files: ['test/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['it', 'describe'].flatMap((object) => [
          { object, property: 'skip', message: 'Say why: skipAloud(this, reason) of test/support/skip.ts.' },
          { object, property: 'only', message: 'The other tests would not run.' },
        ]),
      ],
      // Rows that come from plain SQL and answers that come over HTTP are `any`; an assertion is their check.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
  { files: ENTRIES, rules: { 'no-restricted-properties': 'off' } },
  {
    files: ['workflows/**'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'fetch', 'require', 'WeakRef', 'FinalizationRegistry'],
      'no-restricted-syntax': [
        'error',
        { selector: 'ImportExpression', message: LAW },
        {
          selector:
            "Program > :matches(VariableDeclaration, ExportNamedDeclaration > VariableDeclaration)[kind='let']",
          message: 'Executions share the module: state of a workflow lives inside its function.',
        },
      ],
    },
  },
  {
    files: ['workflows/*.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', lawOfWorkflows(0)] },
  },
  {
    files: ['workflows/*/*.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', lawOfWorkflows(1)] },
  },
);
