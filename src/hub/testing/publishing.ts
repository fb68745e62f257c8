/** A publication with a local Hub for tests: fixed jitter, no real pauses, and everything that was told along the way. */

import type { ExportFile } from '../../core/run-record'
import { publishFiles, type PublishOptions, type Published, type PublishProgress } from '../publish'

/** 20 kB of weights in LFS and two small files outside it. */
export const ADAPTER_FILES: readonly ExportFile[] = [
  { path: 'README.md', content: '---\nlibrary_name: peft\n---\n# A LoRA “ü”\n' },
  { path: 'adapter_config.json', content: '{"peft_type":"LORA"}' },
  { path: 'adapter_model.safetensors', content: Uint8Array.from({ length: 20_000 }, (_, i) => (i * 7) & 255) },
]

export interface Told {
  progress: PublishProgress[]
  /** Pauses, seconds. */
  waits: number[]
}

export interface Trial {
  done: Promise<Published>
  told: Told
}

/** Publishes the adapter to me/lora, which is new; what `more` says counts. */
export function publishing(endpoint: string, token: string | null, more: Partial<PublishOptions> = {}): Trial {
  const told: Told = { progress: [], waits: [] }
  const done = publishFiles({
    endpoint,
    token: () => token,
    repo: { type: 'model', name: 'me/lora' },
    files: ADAPTER_FILES,
    into: 'new',
    private: true,
    asPullRequest: false,
    title: 'A trained LoRA',
    random: () => 0,
    sleep: async (ms) => void told.waits.push(ms / 1000),
    ...more,
    onProgress: (progress) => {
      told.progress.push(progress)
      more.onProgress?.(progress)
    },
  })
  return { done, told }
}
