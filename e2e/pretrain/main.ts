/**
 * `npm run pretrain`: makes the shipped tiny model again from nothing. Writes tokenizer, configuration and weights into a
 * folder and prints success with and without the cue.
 *
 *   --out DIR        folder to write to (public/models/tiny-qwen3)
 *   --seed N         seed of weights and demonstrations (1)
 *   --steps-a N      steps of phase A, --steps-b N of phase B (the recipe's)
 *   --variant NAME   another recipe, see recipe.ts
 *   --evaluate N     also measure every N steps (0)
 *   --episodes N     episodes per measurement (256)
 *   --threads N      WASM threads (1)
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeError, PlaygroundError } from '../../src/core/errors'
import { memorySource } from '../../src/hub/memory-source'
import { writeSafetensors } from '../../src/hub/safetensors'
import { parseModelConfig } from '../../src/model/config'
import { ChatFormat } from '../../src/rollout/chat'
import type { ChatTokenizer } from '../../src/rollout/tokens'
import { createEngine } from '../../src/runtime/create'
import { writeModelFiles } from './files'
import { initialWeights } from './initial'
import { loadTokenizer } from './load-tokenizer'
import { MODEL_CONFIG } from './model-config'
import { pretrain } from './pretrain'
import { VARIANTS } from './recipe'

/** Tokens of the longest whole game (catch under the cue) are fewer. */
const CONTEXT = 768
/** Episodes played at once in a measurement. */
const SLOTS = 32

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'public/models/tiny-qwen3' },
    seed: { type: 'string', default: '1' },
    'steps-a': { type: 'string' },
    'steps-b': { type: 'string' },
    variant: { type: 'string', default: 'default' },
    evaluate: { type: 'string', default: '0' },
    episodes: { type: 'string', default: '256' },
    threads: { type: 'string', default: '1' },
  },
})

/** A flag as a whole number; throws PlaygroundError('config') when it is none. */
function count(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new PlaygroundError('config', `--${name} is "${text}".`, 'Give a whole number.')
  return Number(text)
}

async function main(): Promise<void> {
  const recipe = VARIANTS[values.variant]
  if (recipe === undefined) {
    throw new PlaygroundError('config', `There is no variant "${values.variant}".`, `Choose one of ${Object.keys(VARIANTS).join(', ')}.`)
  }
  const seed = count('seed', values.seed)
  const steps: Record<string, string | undefined> = { A: values['steps-a'], B: values['steps-b'] }
  const phases = recipe.map((phase) => {
    const asked = steps[phase.name]
    return asked === undefined ? phase : { ...phase, steps: count(`steps-${phase.name.toLowerCase()}`, asked) }
  })

  await writeModelFiles(values.out)
  // transformers.js' declaration hides the parts of a tokenizer that ChatFormat uses; it checks them itself.
  const tokenizer = (await loadTokenizer(values.out)) as unknown as ChatTokenizer
  const engine = await createEngine({
    source: memorySource(MODEL_CONFIG, initialWeights(parseModelConfig(MODEL_CONFIG), seed)),
    lora: null,
    backend: 'wasm',
    threads: count('threads', values.threads),
    slots: SLOTS,
    contextLength: CONTEXT,
    modelName: 'tiny-qwen3',
  })
  try {
    const results = await pretrain({
      engine,
      tokenizer,
      chat: new ChatFormat(tokenizer, { enable_thinking: false }),
      phases,
      seed,
      logEvery: 20,
      evaluateEvery: count('evaluate', values.evaluate),
      evaluation: { tasks: ['lane', 'catch', 'echo'], episodes: count('episodes', values.episodes) },
      log: (line) => console.log(line),
    })
    // The head is the embedding, so it is not stored.
    const tensors = (await engine.exportParameters()).filter(({ name }) => name !== 'lm_head.weight')
    const path = join(values.out, 'model.safetensors')
    await writeFile(path, writeSafetensors(tensors))
    console.log(`Wrote ${path}: ${engine.info.parameters} parameters.`)
    console.log(JSON.stringify({ seed, variant: values.variant, results }))
  } finally {
    await engine.dispose()
  }
}

main().catch((error: unknown) => {
  console.error(describeError(error))
  process.exitCode = 1
})
