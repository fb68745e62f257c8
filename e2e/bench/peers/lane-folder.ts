/** Writes a run of lane as the page exports it for TRL. It imports Python as text, which Vite alone can: load it by lane-in-trl.ts. */

import type { RunConfig } from '../../../src/core/config'
import { builtinEnvironment } from '../../../src/env/builtin'
import { peftAdapterFiles } from '../../../src/hub/peft-writer'
import { trlFolder } from '../../../src/hub/trl'
import { tinyEngine } from '../../integration/grpo-run'
import { recordOf, tinyModelFiles, writeFolder } from '../../reference/trl-run'

/** train.py begins with the page's own fresh LoRA, at step 1. */
export async function writeLaneFolder(folder: string, config: RunConfig): Promise<void> {
  const engine = await tinyEngine(config)
  try {
    const adapter = peftAdapterFiles({ lora: config.lora, tensors: await engine.exportParameters(), baseModel: config.model, revision: null })
    const run = { ...recordOf('lane', builtinEnvironment('lane'), config), step: 0, checkpoint: 0 }
    writeFolder(folder, trlFolder({ run, history: [], adapter, base: tinyModelFiles() }))
  } finally {
    await engine.dispose()
  }
}
