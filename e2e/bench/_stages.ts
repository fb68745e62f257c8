/** SFT alone and DPO alone on the shipped model, on the page's WASM engine in Node: what each changes, on training and on held-out scenarios. */

import type { RunConfig } from '../../src/core/config'
import type { Episode } from '../../src/core/episode'
import { RandomStream } from '../../src/core/random'
import { DEFAULT_STAGE, type StageKind, type StageSettings } from '../../src/core/stage'
import type { ToolEdit } from '../../src/core/tool-edits'
import { builtinEnvironment } from '../../src/env/builtin'
import { withToolEdits } from '../../src/env/tool-edits'
import { rollout } from '../../src/rollout/rollout'
import type { EngineInstance } from '../../src/runtime/create'
import { dpoExamples, type PairExample, preferences, sftExamples } from '../../src/train/datasets'
import { evaluate } from '../../src/train/evaluate'
import { groupSeeds } from '../../src/train/seeds'
import { trainStage } from '../../src/worker/stage-training'
import { configOf, connected, tinyChat, tinyEngine } from '../integration/grpo-run'
import { TASKS } from '../pretrain/players'
import type { BenchLog, BenchRow } from '../tools/bench-rows'

export const STAGE_ROWS = ['sft', 'dpo', 'staged'] as const

/** Words that the model has had to write before: a LoRA cannot make it write others. */
const RENAMED: ToolEdit[] = [
  { kind: 'rename', tool: 'emergency_stop', name: 'stay' },
  { kind: 'rename', tool: 'lane_change', name: 'move' },
  { kind: 'rename', tool: 'observe', name: 'echo' },
]
const NAMES = new Map(RENAMED.map((edit) => (edit.kind === 'rename' ? [edit.tool, edit.name] : ['', ''])))

type Both = Record<'train' | 'heldout', number>
/** Rows as tokens, whose source is no dataset of the Hub. */
type Prepared = { kind: 'sft'; prepared: ReturnType<typeof sftExamples> } | { kind: 'dpo'; prepared: ReturnType<typeof dpoExamples> }

/** The shipped model in lane with this seed, for as long as `work` takes. */
async function withLane<R>(seed: number, tool_edits: ToolEdit[], work: (run: { config: RunConfig; engine: EngineInstance }) => Promise<R>): Promise<R> {
  const config = { ...configOf('lane', { seed, prompts_per_step: 8 }), tool_edits }
  const engine = await tinyEngine(config)
  try {
    return await work({ config, engine })
  } finally {
    await engine.dispose()
  }
}

/** Demonstrations with other tool names: beginners' games, whose form is right and whose choices are not. */
function renamedGames(seed: number, count: number) {
  const { tools } = withToolEdits(builtinEnvironment('lane'), RENAMED)
  const { system_prompt } = configOf('lane')
  return Array.from({ length: count }, (_, i) => {
    const { opening, turns } = TASKS.lane.play('novice', new RandomStream(seed, 0x5f7, i))
    const messages = turns.flatMap(({ call, result }, at) => [
      { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { ...call, name: NAMES.get(call.name) ?? call.name } }] },
      ...(at < turns.length - 1 ? [{ role: 'tool', name: NAMES.get(call.name) ?? call.name, content: result }] : []),
    ])
    return { messages: [{ role: 'system', content: system_prompt }, { role: 'user', content: opening }, ...messages], tools, chat_template_kwargs: { enable_thinking: false } }
  })
}

const placed = (rows: readonly object[]) => rows.map((row, i) => ({ place: `line ${i + 1}`, row: { ...row } }))

const settingsOf = (kind: StageKind, change: Partial<StageSettings>): StageSettings => ({ ...DEFAULT_STAGE[kind], ...change })

async function train(engine: EngineInstance, prepared: Prepared, settings: StageSettings): Promise<void> {
  await trainStage({ engine, data: { ...prepared, hub: null }, settings, gate: () => Promise.resolve(), onStep: () => {}, signal: new AbortController().signal })
}

/** Format validity: the share of episodes that reach their end by calls that fit the tools. */
export function sftRow(seed: number, episodes: number, log: BenchLog): Promise<BenchRow> {
  return withLane(seed, RENAMED, async ({ config, engine }) => {
    const chat = await tinyChat()
    const environment = withToolEdits(await connected(config), RENAMED)
    const valid = async (): Promise<Both> => {
      const rate = async (split: 'train' | 'heldout') => (await evaluate({ engine, environment, chat, config, split, episodes, onEvent: () => {} })).metrics['eval_exit/env_done'] ?? 0
      return { train: await rate('train'), heldout: await rate('heldout') }
    }
    const before = await valid()
    log(`valid before ${before.train.toFixed(3)}, held-out ${before.heldout.toFixed(3)}`)
    const began = performance.now()
    const settings = settingsOf('sft', { learning_rate: 5e-3, max_steps: 100, seed })
    await train(engine, { kind: 'sft', prepared: sftExamples(placed(renamedGames(seed, 240)), chat, settings) }, settings)
    const seconds = Math.round((performance.now() - began) / 100) / 10
    const after = await valid()
    log(`valid after ${after.train.toFixed(3)}, held-out ${after.heldout.toFixed(3)}`)
    return { bench: 'learn', row: 'sft', seed, before: before.train, after: after.train, heldOutBefore: before.heldout, heldOutAfter: after.heldout, steps: settings.max_steps, seconds, note: 'share of lane episodes ended by valid calls, tools renamed' }
  })
}

/** rewards/margins on pairs from play, 0 before by definition; rewards/accuracies, which are 0.5 by chance, are in the note. */
export function dpoRow(seed: number, groups: number, log: BenchLog): Promise<BenchRow> {
  return withLane(seed, [], async ({ config, engine }) => {
    const chat = await tinyChat()
    const environment = await connected(config)
    const settings = settingsOf('dpo', { learning_rate: 2e-3, max_steps: 30, per_device_train_batch_size: 16, seed })
    const pairsOf = async (split: 'train' | 'heldout'): Promise<Prepared & { kind: 'dpo' }> => {
      const { grpo, system_prompt, user_prompt, enable_thinking } = config
      const episodes: Episode[] = await rollout({
        step: 0, groupSeeds: groupSeeds(seed, split === 'train' ? 1 : 2, groups), num_generations: grpo.num_generations, split, config: grpo, system_prompt, user_prompt, environment, sampler: engine, chat, onEvent: () => {},
      })
      return { kind: 'dpo', prepared: dpoExamples(placed(preferences(episodes, environment, enable_thinking)), chat, settings) }
    }
    const pairs = { train: await pairsOf('train'), heldout: await pairsOf('heldout') }
    const scores = async (split: 'train' | 'heldout') => advantageOfChosen(engine, pairs[split].prepared.examples)
    const before = { train: await scores('train'), heldout: await scores('heldout') }
    const began = performance.now()
    await train(engine, pairs.train, settings)
    const seconds = Math.round((performance.now() - began) / 100) / 10
    const told = async (split: 'train' | 'heldout') => {
      const margins = (await scores(split)).map((now, i) => settings.beta * (now - (before[split][i] ?? 0)))
      return { margin: margins.reduce((a, b) => a + b, 0) / margins.length, accuracy: margins.filter((margin) => margin > 0).length / margins.length }
    }
    const [training, heldOut] = [await told('train'), await told('heldout')]
    const note = `rewards/margins; rewards/accuracies ${training.accuracy.toFixed(3)}, held-out ${heldOut.accuracy.toFixed(3)} (0.5 by chance); ${before.train.length} and ${before.heldout.length} pairs`
    log(`margins ${training.margin.toFixed(3)}, held-out ${heldOut.margin.toFixed(3)}; ${note}`)
    return { bench: 'learn', row: 'dpo', seed, before: 0, after: training.margin, heldOutBefore: 0, heldOutAfter: heldOut.margin, steps: settings.max_steps, seconds, note }
  })
}

/** How much likelier the chosen answer of each pair is than the rejected one, nats. */
async function advantageOfChosen(engine: EngineInstance, examples: readonly PairExample[]): Promise<number[]> {
  const answers = examples.flatMap(({ chosen, rejected }) => [chosen, rejected])
  const sums = (await engine.score(answers, { temperature: 1 })).map(({ logprobs }, i) => logprobs.reduce((sum, x, t) => sum + (answers[i]?.mask[t] === 1 ? x : 0), 0))
  return examples.map((_, i) => (sums[2 * i] ?? 0) - (sums[2 * i + 1] ?? 0))
}
