/** Lint rules: typed correctness checks, import directions between rooms, file length. No rule about style. */

import js from '@eslint/js'
import tseslint from 'typescript-eslint'
import rooms from './e2e/tools/eslint-rooms.js'

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.cache/', '.venv*/', 'coverage/', 'public/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [js.configs.recommended, ...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { rooms },
    rules: {
      'rooms/imports': 'error',
      'max-lines': ['error', { max: 400 }],
      // TypeScript sees undefined names itself, and knows the globals.
      'no-undef': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // A function may be async because its interface is.
      '@typescript-eslint/require-await': 'off',
      // Interfaces here are written as methods, and their objects are closures without `this`.
      '@typescript-eslint/unbound-method': 'off',
      // JSX handlers may be async.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    },
  },
  {
    // Tests speak to servers, Python and pages, where values have no types; tables are as long as their data.
    files: ['**/*.test.{ts,tsx}', '**/*.soak.ts'],
    rules: {
      'max-lines': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
  { files: ['**/*.{data,table,golden}.ts'], rules: { 'max-lines': 'off' } },
  { files: ['**/*.js'], extends: [js.configs.recommended] },
)
