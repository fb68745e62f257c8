/** The import directions between rooms, as complaints and through ESLint itself. */

import { Linter } from 'eslint'
import tseslint from 'typescript-eslint'
import { describe, expect, it } from 'vitest'
import plugin, { complaint } from './eslint-rooms.js'

describe('complaint', () => {
  it.each([
    ['src/core/errors.ts', './config'],
    ['src/graph/ops/linear.ts', '../graph'],
    ['src/graph/ops/linear.ts', '../../core/errors'],
    ['src/runtime/engine.ts', '../artifacts/manifest'],
    ['src/runtime/engine.ts', 'onnxruntime-web/webgpu'],
    ['src/runtime/engine.ts', 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url'],
    ['src/train/grpo.ts', '../rl'],
    ['src/worker/worker.ts', '../train/grpo'],
    ['src/panels/curves/curves.tsx', '../../worker/protocol'],
    ['src/panels/curves/curves.tsx', 'recharts'],
    ['src/main.tsx', './app'],
    ['src/main.tsx', './worker/client.ts'],
    ['src/main.tsx', './panels/curves/curves'],
    ['src/rl/loss.test.ts', '../runtime/engine'],
    ['e2e/bench/learn.ts', '../../src/runtime/engine'],
    ['src/hub/read.ts', 'zod'],
    ['src/panels/catalogue/OwnServer.tsx', '../../../e2e/openenv/minimal/guess.py?raw'],
  ])('lets %s import %s', (file, source) => {
    expect(complaint(file, source)).toBeNull()
  })

  it.each([
    ['src/core/errors.ts', '../rl', 'core/ may not import rl/'],
    ['src/rl/loss.ts', '../env/presets', 'rl/ may not import env/'],
    ['src/graph/ops/linear.ts', '../../model/qwen3', 'graph/ may not import model/'],
    ['src/train/grpo.ts', '../runtime/engine', 'train/ may not import runtime/'],
    ['src/rollout/chat.ts', 'onnxruntime-web/wasm', 'rollout/ may not import onnxruntime-web'],
    ['src/env/custom/frame.ts', 'react', 'env/ may not import react'],
    ['src/store/store.ts', '../worker/worker', 'store/ may not import worker/'],
    ['src/panels/curves/curves.tsx', '../../runtime/engine', 'panels/ may not import runtime/'],
    ['src/panels/curves/curves.tsx', '../../worker/protocol-client', 'panels/ may not import worker/'],
    ['src/store/store.ts', '../panels/curves/curves', 'store/ may not import panels/'],
    ['src/panels/curves/curves.tsx', '../../worker/client', 'panels/ may not import worker/'],
    ['src/main.tsx', './worker/worker', 'page/ may not import worker/'],
    ['src/main.tsx', './train/grpo', 'page/ may not import train/'],
    ['src/core/errors.ts', '../../e2e/tools/lock', 'outside src/'],
    ['src/misc/helpers.ts', './x', 'no room'],
  ])('stops %s from importing %s', (file, source, text) => {
    expect(complaint(file, source)).toContain(text)
  })
})

describe('rule', () => {
  const lint = (code: string) =>
    new Linter({ cwd: '/repo' }).verify(
      code,
      [{ files: ['**/*.ts'], languageOptions: { parser: tseslint.parser }, plugins: { rooms: plugin }, rules: { 'rooms/imports': 'error' } }],
      { filename: '/repo/src/rl/loss.ts' },
    )

  it.each([
    "import { x } from '../env/x'",
    "import type { X } from '../env/x'",
    "import '../env/x'",
    "export { x } from '../env/x'",
    "export * from '../env/x'",
    "const x = await import('../env/x')",
    "let x: import('../env/x').X",
  ])('sees %s', code => {
    expect(lint(code).map(message => message.message)).toEqual(['rl/ may not import env/. It may import: core.'])
  })

  it('is silent about what is allowed', () => {
    expect(lint("import { x } from '../core/x'\nexport const y = x\nexport { z } from './z'")).toEqual([])
  })
})
