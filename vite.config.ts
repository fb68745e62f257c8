/** How the page is served, built and tested: cross-origin isolation, one onnxruntime, and the vitest projects. */

import react from '@vitejs/plugin-react'
import type { UserConfig } from 'vite'
import { defineConfig } from 'vitest/config'
import { ship } from './e2e/tools/ship.ts'
import { tokenizerAlone } from './e2e/tools/tokenizer-alone.ts'
import { woff2Only } from './e2e/tools/woff2-only.ts'
import about from './package.json' with { type: 'json' }
import { ISOLATION_HEADERS } from './src/service-worker/isolation.ts'

/**
 * onnxruntime-web starts its threads as workers of the very chunk it stands in. Merged into the engine's worker, each thread would be another
 * engine; merged with its other build, each would be a thread of both. The first session would never be ready.
 */
const ortAlone = [
  { name: 'onnxruntime-wasm', test: /[\\/]ort(\.wasm\.bundle|-wasm-simd-threaded\.wasm)/, priority: 2 },
  { name: 'onnxruntime', test: /[\\/]onnxruntime-(web|common)[\\/]/, priority: 1 },
]

interface Graph {
  getModuleInfo(id: string): { isEntry: boolean; importers: string[] } | null
}

/**
 * What an entry cannot begin without is one file. Left to itself the bundler cuts it by who else will want which part, into dozens, and each
 * costs a request and a turn of the service worker.
 */
function startTogether() {
  const known = new Map<string, boolean>()
  /** Up through whoever imports it, and not only when asked, to an entry. */
  const isNeeded = (id: string, graph: Graph): boolean => {
    const seen = new Set([id])
    for (const each of seen) {
      const info = graph.getModuleInfo(each)
      if (known.get(each) === true || info?.isEntry) {
        known.set(id, true)
        return true
      }
      if (known.get(each) === undefined) for (const importer of info?.importers ?? []) seen.add(importer)
    }
    for (const each of seen) known.set(each, false)
    return false
  }
  return { name: (id: string, graph: Graph) => (isNeeded(id, graph) ? 'start' : null) }
}

const codeSplitting = () => ({ groups: [...ortAlone, startTogether()] })

/**
 * Everything but the tests. `isolated` sends the two headers that WASM threads need; the page also works without them
 * (GRPO_NO_ISOLATION=1 serves it that way).
 */
export function appConfig(isolated: boolean): UserConfig {
  const headers = isolated ? ISOLATION_HEADERS : {}
  return {
    // Works from any folder of any static host.
    base: './',
    // A missing file under /models/ must be a 404, not index.html in the shape of a model.
    appType: 'mpa',
    define: { __VERSION__: JSON.stringify(about.version) },
    plugins: [react(), woff2Only(), ship()],
    // The default (iife) cannot import() inside a worker.
    worker: { format: 'es', plugins: () => [tokenizerAlone()], rolldownOptions: { output: { codeSplitting: codeSplitting() } } },
    // transformers brings its own onnxruntime-web: two copies would be 27 MB more and two `env` objects.
    resolve: { dedupe: ['onnxruntime-web', 'onnxruntime-common', 'react', 'react-dom'] },
    optimizeDeps: {
      // Pre-bundling loses the `new URL(...wasm, import.meta.url)` inside them.
      exclude: ['onnxruntime-web', '@huggingface/transformers'],
      // Known from the start, so that none is discovered late and reloads a page that is training.
      entries: ['index.html'],
      include: [
        '@base-ui/react/menu',
        '@base-ui/react/tooltip',
        '@huggingface/hub',
        'fflate',
        'hash-wasm',
        'hyparquet',
        'hyparquet-writer',
        'idb',
        'katex',
        'react',
        'react/jsx-runtime',
        'react/jsx-dev-runtime',
        'react-dom',
        'react-dom/client',
        'recharts',
        'zod',
        'zustand',
        'zustand/middleware',
        'zustand/react/shallow',
        'zustand/vanilla',
      ],
    },
    server: { headers, watch: { ignored: ['**/.venv*/**', '**/.cache/**', '**/e2e/**'] } },
    preview: { headers },
    build: { target: 'esnext', chunkSizeWarningLimit: 2000, rolldownOptions: { output: { codeSplitting: codeSplitting() } } },
  }
}

const minute = 60_000

/** One process, one file at a time: for tests that start servers and browsers, or keep a core busy. */
const oneAtATime = { fileParallelism: false, maxWorkers: 1 }

export default defineConfig({
  ...appConfig(process.env.GRPO_NO_ISOLATION !== '1'),
  test: {
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          // All that no other project takes, so that no test file is in none.
          include: ['src/**/*.test.{ts,tsx}', 'e2e/**/*.test.ts'],
          exclude: ['e2e/{integration,browser,reference}/**', '**/node_modules/**'],
          // None takes so long; servers and libraries are made ready beside them.
          testTimeout: minute,
          // What the page fetches later is loaded in one: on a busy machine no matter of vitest's ten seconds.
          hookTimeout: minute,
          // What comes in the end counts, not how fast: vitest would give it a second.
          expect: { poll: { timeout: minute / 2 } },
          // Left to itself vitest spares a core, which on two cores is half of them.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          environment: 'node',
          include: ['e2e/integration/**/*.test.ts'],
          // Types and lint run beside it.
          testTimeout: 4 * minute,
          hookTimeout: 5 * minute,
          // Most of the time one waits for its server.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          environment: 'node',
          include: ['e2e/browser/**/*.test.ts'],
          testTimeout: 10 * minute,
          hookTimeout: 5 * minute,
          // What a page shows in the end counts, not how fast: vitest would give it a second.
          expect: { poll: { timeout: minute } },
          // While one page loads or waits for its server, another computes.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'reference',
          environment: 'node',
          include: ['e2e/reference/**/*.test.ts'],
          testTimeout: 5 * minute,
          hookTimeout: 5 * minute,
          ...oneAtATime,
        },
      },
      {
        extends: true,
        test: {
          name: 'soak',
          environment: 'node',
          include: ['e2e/soak/**/*.soak.ts'],
          testTimeout: 120 * minute,
          hookTimeout: 5 * minute,
          ...oneAtATime,
        },
      },
    ],
  },
})
