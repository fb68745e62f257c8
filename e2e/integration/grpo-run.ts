/** A GRPO run in Node as the worker makes one: the shipped model, the WASM engine on one thread, any environment. */

import { fileURLToPath } from 'node:url'
import type { GrpoConfig, RunConfig } from '../../src/core/config'
import type { NamedTensor } from '../../src/core/engine'
import type { Environment } from '../../src/core/environment'
import type { StepRecord, TrainEvent } from '../../src/core/events'
import { type Preset, presetById, presetConfig } from '../../src/env/presets'
import { ChatFormat } from '../../src/rollout/chat'
import { createEngine, type EngineInstance } from '../../src/runtime/create'
import { makeEnvironment } from '../../src/worker/make-environment'
import { GrpoTrainer, type GrpoTrainerOptions } from '../../src/train/grpo'
import { loadTokenizer } from '../pretrain/load-tokenizer'
import { fileSource } from '../tools/file-source'

const PUBLIC = fileURLToPath(new URL('../../public', import.meta.url))

/** The shipped model's chat format. */
export async function tinyChat(): Promise<ChatFormat> {
  return new ChatFormat(await loadTokenizer(`${PUBLIC}/models/tiny-qwen3`), { enable_thinking: false })
}

/** A preset's run with some settings changed. */
export function configOf(preset: Preset['id'], grpo: Partial<GrpoConfig> = {}): RunConfig {
  const config = presetConfig(presetById(preset))
  return { ...config, backend: 'wasm', grpo: { ...config.grpo, ...grpo } }
}

/** The shipped model with a fresh LoRA from the config's seed; room for every episode of a step. */
export function tinyEngine({ grpo, lora, model }: RunConfig, microBatchTokens?: number, ownKernels = true): Promise<EngineInstance> {
  return createEngine({
    source: fileSource(`${PUBLIC}/${model}`),
    lora,
    backend: 'wasm',
    threads: 1,
    slots: grpo.num_generations * grpo.prompts_per_step,
    contextLength: 768,
    modelName: model,
    seed: grpo.seed,
    ownKernels,
    ...(microBatchTokens === undefined ? {} : { microBatchTokens }),
  })
}

export interface RunResult {
  records: StepRecord[]
  events: TrainEvent[]
  /** After the last step. */
  adapter: NamedTensor[]
}

export interface RunOptions extends Partial<Pick<GrpoTrainerOptions, 'maskEnvironment' | 'wait' | 'callCustom'>> {
  steps?: number
  environment?: Environment
  microBatchTokens?: number
  /** Called with every event, before the next thing happens. */
  onEvent?: (event: TrainEvent) => void
}

/** Trains `steps` steps with an engine of its own, which is gone afterwards. */
export async function trainSteps(config: RunConfig, { steps = 1, environment, microBatchTokens, onEvent, ...rest }: RunOptions = {}): Promise<RunResult> {
  const engine = await tinyEngine(config, microBatchTokens)
  const events: TrainEvent[] = []
  try {
    const trainer = new GrpoTrainer({
      config,
      engine,
      environment: environment ?? (await connected(config)),
      chat: await tinyChat(),
      onEvent: (event) => {
        events.push(event)
        onEvent?.(event)
      },
      // A test that expects no outage fails with its reason instead of waiting.
      wait: () => Promise.reject(new Error(`Unexpected outage: ${JSON.stringify(events.findLast((event) => event.type === 'notice'))}`)),
      ...rest,
    })
    const records: StepRecord[] = []
    for (let step = 0; step < steps; step++) records.push(await trainer.step())
    return { records, events, adapter: await engine.exportParameters() }
  } finally {
    await engine.dispose()
  }
}

/** The same environment, but an episode's reward is 1 for odd places and 0 for even ones: a signal whatever the model plays. */
export function rewardedByPlace(environment: Environment): Environment {
  return {
    name: environment.name,
    tools: environment.tools,
    maxSessions: environment.maxSessions,
    prompts: environment.prompts,
    connect: () => environment.connect(),
    close: () => environment.close(),
    episodeReward: (rewards) => rewards.findLast((reward) => reward !== null) ?? 0,
    isSuccess: (reward) => reward === 1,
    open: async () => {
      const session = await environment.open()
      let reward = 0
      return {
        reset: (options) => {
          reward = Number(/episode(\d+)$/.exec(options.episode_id)?.[1]) % 2
          return session.reset(options)
        },
        step: async (call) => ({ ...(await session.step(call)), reward }),
        close: () => session.close(),
      }
    },
  }
}

/** What the run plays in, connected. */
export async function connected({ environment, grpo, system_prompt }: RunConfig): Promise<Environment> {
  const made = makeEnvironment(environment, { seed: grpo.seed, system_prompt })
  await made.connect()
  return made
}

/** All parameters as one list. */
export function flat(adapter: readonly NamedTensor[]): number[] {
  return adapter.flatMap(({ data }) => [...data])
}

/** Largest difference between two adapters. */
export function largestDifference(a: readonly NamedTensor[], b: readonly NamedTensor[]): number {
  const [left, right] = [flat(a), flat(b)]
  if (left.length !== right.length) throw new Error(`${left.length} and ${right.length} parameters`)
  return left.reduce((most, x, i) => Math.max(most, Math.abs(x - (right[i] as number))), 0)
}
