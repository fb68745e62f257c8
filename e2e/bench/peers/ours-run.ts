/** Our engine on WASM in a worker of the harness page: engines by name, and what rows time of them. */

import { DEFAULT_LORA } from '../../../src/core/config'
import type { SequenceGradient, SequenceScores } from '../../../src/core/engine'
import type { WeightSource } from '../../../src/core/weights'
import { FolderSource } from '../../../src/hub/folder-source'
import { probeCapabilities } from '../../../src/runtime/capabilities'
import { createEngine, type EngineInstance } from '../../../src/runtime/create'
import { shapeSource } from '../../models/shapes'
import { ADAM, evenDraws, PLAIN, slotsOf, spreadIds, trainingBatch } from '../../models/workload'

export interface OpenRequest {
  /** What later calls name the engine by. */
  name: string
  /** Address of a folder, or a config.json whose weights are random. */
  model: string | Readonly<Record<string, unknown>>
  slots: number
  contextLength: number
  threads: number
  /** LoRA rank, all linear layers; 16 unless given. */
  r?: number
}

const engines = new Map<string, EngineInstance>()

const engineOf = (name: string): EngineInstance => {
  const engine = engines.get(name)
  if (!engine) throw new Error(`No engine ${name} was opened.`)
  return engine
}

/** WASM threads that the page would use here. */
export async function usualThreads(): Promise<number> {
  return (await probeCapabilities()).threads
}

/** What an engine says of itself once it is open. */
export interface Opened {
  ortVersion: string
  threads: number
  parameters: number
  vocabSize: number
}

export async function open({ name, model, slots, contextLength, threads, r = DEFAULT_LORA.r }: OpenRequest): Promise<Opened> {
  const source: WeightSource = typeof model === 'string' ? new FolderSource(new URL(model, self.location.href).href) : shapeSource(model)
  const lora = { ...DEFAULT_LORA, r, lora_alpha: 2 * r }
  const engine = await createEngine({ source, lora, backend: 'wasm', threads, slots, contextLength, modelName: name, adapterName: 'bench' })
  engines.set(name, engine)
  const { ortVersion, parameters, vocabSize } = engine.info
  return { ortVersion, threads: engine.info.threads, parameters, vocabSize }
}

export async function close({ name }: { name: string }): Promise<void> {
  await engineOf(name).dispose()
  engines.delete(name)
}

export interface GenerateRequest {
  /** Of one length. */
  prompts: number[][]
  newTokens: number
}

export interface Generated {
  seconds: number
  /** What each wrote. */
  ids: number[][]
}

/** Greedy continuations of as many prompts as there are slots, whatever the model writes. Seconds of all of it. */
export async function generate({ name, prompts, newTokens }: { name: string } & GenerateRequest): Promise<Generated> {
  const engine = engineOf(name)
  const ids: number[][] = prompts.map(() => [])
  const from = performance.now()
  for (const [slot, prompt] of prompts.entries()) {
    engine.reset(slot)
    await engine.prefill(slot, prompt)
  }
  const draws = evenDraws(prompts.length)
  for (let k = 0; k < newTokens; k++) {
    const drawn = await engine.sample(draws, { ...PLAIN, temperature: 0 })
    drawn.forEach(({ id }, slot) => ids[slot]?.push(id))
    // The last token is never read.
    if (k + 1 < newTokens) await engine.decode(drawn.map(({ id }, slot) => ({ slot, id })))
  }
  return { seconds: (performance.now() - from) / 1000, ids }
}

/** Mean negative log-prob of all tokens but the first of each sequence, its gradient, one AdamW step. */
export async function train({ name, sequences }: { name: string; sequences: number[][] }): Promise<{ seconds: number; loss: number }> {
  const engine = engineOf(name)
  const batch = sequences.map((ids) => ({ ids, mask: ids.map((_, t) => (t > 0 ? 1 : 0)) }))
  const count = sequences.reduce((sum, ids) => sum + ids.length - 1, 0)
  let loss = 0
  const slopes = (_: readonly number[], scores: readonly SequenceScores[]): SequenceGradient[] =>
    scores.map(({ logprobs }) => {
      loss -= logprobs.reduce((sum, value) => sum + value, 0) / count
      return { dLogprobs: Float64Array.from(logprobs, () => -1 / count) }
    })
  const from = performance.now()
  await engine.accumulate(batch, { temperature: 1 }, slopes)
  await engine.optimizerStep(ADAM)
  return { seconds: (performance.now() - from) / 1000, loss }
}

/** Seconds of one token of all slots, after `prompt` tokens in each: sampled, then decoded. The mean over `tokens` of them. */
export async function decode({ name, prompt, tokens }: { name: string; prompt: number; tokens: number }): Promise<number> {
  const engine = engineOf(name)
  await fill(engine, prompt)
  const from = performance.now()
  await tokensOfAll(engine, tokens)
  return (performance.now() - from) / 1000 / tokens
}

/** Seconds of a step in small: a prompt that all slots share, tokens of their own, and training on what came of it. */
export async function step({ name, prompt, tokens }: { name: string; prompt: number; tokens: number }): Promise<number> {
  const engine = engineOf(name)
  const from = performance.now()
  await fill(engine, prompt)
  await tokensOfAll(engine, tokens)
  const batch = trainingBatch(engine.slots, spreadIds(prompt + tokens, engine.info.vocabSize), engine.info.vocabSize)
  const slopes = (_: readonly number[], scores: readonly SequenceScores[]): SequenceGradient[] =>
    scores.map(({ logprobs }) => ({ dLogprobs: Float64Array.from(logprobs, () => -1 / batch.length) }))
  await engine.accumulate(batch, { temperature: 1 }, slopes)
  await engine.optimizerStep(ADAM)
  return (performance.now() - from) / 1000
}

async function fill(engine: EngineInstance, prompt: number): Promise<void> {
  for (const slot of slotsOf(engine.slots)) engine.reset(slot)
  await engine.prefill(0, spreadIds(prompt, engine.info.vocabSize))
  if (engine.slots > 1) await engine.copy(0, slotsOf(engine.slots).slice(1))
}

async function tokensOfAll(engine: EngineInstance, tokens: number): Promise<void> {
  for (let k = 0; k < tokens; k++) {
    const drawn = await engine.sample(evenDraws(engine.slots), PLAIN)
    await engine.decode(drawn.map(({ id }, slot) => ({ slot, id })))
  }
}
