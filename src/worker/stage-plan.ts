/** The stages that a run makes by itself before its first GRPO step: it plays their rows, measures the policy before and after, and trains. */

import type { RunConfig } from '../core/config'
import type { Engine } from '../core/engine'
import { describeError, PlaygroundError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import { hash } from '../core/random'
import { type PauseGate, waitAtGate } from '../core/sleep'
import { LEADING_METRIC, nextPlanned, type PlannedStage, rowsFit, type StageMeasure, type StageRecord } from '../core/stage'
import { randomGames } from '../rollout/random-play'
import { rollout } from '../rollout/rollout'
import { demonstrations, preferences, whyNoChat } from '../train/datasets'
import { evaluate } from '../train/evaluate'
import { assertNotStopped } from '../train/guard'
import { chosenBy, scoreEpisodes } from '../train/scoring'
import { groupSeeds } from '../train/seeds'
import type { Message, PlanDoing } from './protocol'
import type { RunSetup } from './setup'
import { prepareStage, type StageData } from './stage-data'
import { checkStage, trainStage } from './stage-training'

/** Part of the random key of a stage's scenarios: others than a GRPO step's. */
const PLAN_KEY = 0x706c616e

export interface PlannedRun extends RunSetup {
  config: RunConfig
}

/** Whoever keeps the stages of the run. */
export interface StageKeeper {
  readonly done: readonly StageRecord[]
  /** The run goes on from the policy as it is now. */
  keepPlanned(stage: Omit<StageRecord, 'afterStep'>): Promise<void>
}

interface Told {
  gate: PauseGate
  signal: AbortSignal
  tell: (doing: PlanDoing, done: number, of: number, metrics?: Record<string, number | null>) => void
}

export class StagePlan {
  constructor(
    private readonly keeper: StageKeeper,
    private readonly post: (message: Message) => void,
  ) {}

  /** The run has a stage to make before its next step. */
  isDue({ config }: PlannedRun): boolean {
    return nextPlanned(config.stages ?? [], this.keeper.done) !== null
  }

  /**
   * Makes the next stage of the plan. One that cannot be trained changes nothing, is kept with the reason, and the plan goes on.
   *
   * @param gate awaited before every optimizer step and between decode ticks: a pause is a promise that does not resolve yet
   * @throws PlaygroundError 'stopped' when the signal aborts (the stage is then still due, from its beginning), and what environment and engine throw
   */
  async makeNext(run: PlannedRun, gate: PauseGate, signal: AbortSignal): Promise<void> {
    const plan = run.config.stages ?? []
    const at = nextPlanned(plan, this.keeper.done)
    const stage = at === null ? undefined : plan[at]
    if (at === null || !stage) return
    const last = this.keeper.done.at(-1)
    let before = last?.planned === at - 1 ? last.after : undefined
    const told: Told = { gate, signal, tell: (doing, done, of, metrics) => this.post({ type: 'plan', kind: stage.kind, at, stages: plan.length, doing, done, of, ...(before && { before }), ...(metrics && { metrics }) }) }
    const refused = refusal(stage)
    if (!before && !refused) before = await this.measure(run, 'before', told)
    const begin = await run.engine.exportState()
    const common = { kind: stage.kind, planned: at, settings: stage.settings, ...(before && { before }) }
    let name = ''
    let rows = 0
    try {
      // Before anything is played for it.
      if (refused) throw refused
      const data = await this.rowsOf(stage, at, run, told)
      ;({ name } = data)
      rows = data.prepared.prepared.examples.length
      if (rows === 0) throw new PlaygroundError('config', data.none)
      const done = await train(run.engine, data.prepared, stage, told)
      const after = await this.measure(run, 'after', told)
      await this.keeper.keepPlanned({ ...common, dataset: name, rows, steps: done.length, first: done[0] ?? {}, last: done.at(-1) ?? {}, lead: done.map((metrics) => metrics[LEADING_METRIC[stage.kind]] ?? null), ...(after && { after }) })
    } catch (error) {
      const known = error instanceof PlaygroundError ? error.kind : null
      // An engine that is gone has nothing to be put back into.
      if (known !== 'device-lost' && known !== 'memory') await run.engine.importState(begin)
      if (known !== 'config' && known !== 'non-finite') throw error
      const skipped = describeError(error)
      this.warn(`${stage.kind.toUpperCase()}, stage ${at + 1} of the plan, was left out, and the run goes on without it. ${skipped}`)
      await this.keeper.keepPlanned({ ...common, dataset: name, rows, steps: 0, first: {}, last: {}, skipped, ...(before && { after: before }) })
    }
  }

  /** undefined where no episode could be scored: the plan goes on without the figure. */
  private async measure(run: PlannedRun, doing: 'before' | 'after', { gate, signal, tell }: Told): Promise<StageMeasure | undefined> {
    const { eval_episodes: episodes, eval_greedy: greedy } = run.config.grpo
    const onEvent = (event: TrainEvent): void => {
      if (event.type === 'evaluation') tell(doing, event.done, event.total)
    }
    try {
      const { success, reward, metrics, episodes: played } = await evaluate({ ...run, split: run.environment.heldOut ? 'heldout' : 'train', episodes, greedy, onEvent, gate, signal })
      return { episodes: played, success, valid: metrics['eval_exit/env_done'] ?? 0, reward }
    } catch (error) {
      if (!(error instanceof PlaygroundError) || error.kind !== 'environment') throw error
      this.warn(`The policy could not be measured ${doing} the stage. ${describeError(error)}`)
      return undefined
    }
  }

  /** A stage's rows, as tokens. `none`: what is said where there is none. */
  private async rowsOf(stage: PlannedStage, at: number, run: PlannedRun, told: Told): Promise<{ name: string; prepared: StageData; none: string }> {
    const { rows, none, name } = await playedRows(stage, at, run, told)
    const text = rows.map((row) => JSON.stringify(row)).join('\n')
    if (text === '') throw new PlaygroundError('config', none)
    const prepared = await prepareStage(stage.kind, { name, text }, stage.settings, run.chat, run.engine.contextLength, { hub: null })
    return { name, prepared, none: `None of its ${rows.length} rows can be trained on.` }
  }

  private warn(text: string): void {
    this.post({ type: 'event', event: { type: 'notice', level: 'warning', text } })
  }
}

/** Rows in TRL's formats, played for the stage. */
async function playedRows({ kind, rows }: PlannedStage, at: number, run: PlannedRun, { gate, signal, tell }: Told): Promise<{ rows: object[]; name: string; none: string }> {
  const { config, environment, engine, chat } = run
  const { grpo, system_prompt, user_prompt, enable_thinking } = config
  if (!rowsFit({ kind, rows })) throw new PlaygroundError('config', `${kind.toUpperCase()} cannot be trained on such rows (${rows.from}).`)
  const seeds = groupSeeds(hash(grpo.seed, PLAN_KEY), at, rows.from === 'random' ? rows.games : rows.groups)
  if (rows.from === 'random') {
    const pass = async (): Promise<void> => {
      await waitAtGate(gate, signal)
      assertNotStopped(signal)
    }
    const games = await randomGames({ environment, system_prompt, user_prompt, seeds, turns: grpo.max_tool_calling_iterations, seed: grpo.seed, gate: pass, onGame: (done) => tell('rows', done, seeds.length) })
    return {
      rows: games.map(({ messages, tools }) => ({ messages, ...(tools.length > 0 && { tools }), chat_template_kwargs: { enable_thinking } })),
      name: `${games.length} games of random calls`,
      none: 'No game was played.',
    }
  }
  const total = seeds.length * grpo.num_generations
  let done = 0
  tell('rows', 0, total)
  const onEvent = (event: TrainEvent): void => {
    if (event.type === 'episode-finished') tell('rows', ++done, total)
  }
  // Keyed by a seed of its own: the run's steps draw as they would without the plan.
  const request = { step: 0, groupSeeds: seeds, num_generations: grpo.num_generations, split: 'train' as const, config: { ...grpo, seed: hash(grpo.seed, PLAN_KEY, at) }, system_prompt, user_prompt, environment, sampler: engine, chat, onEvent, gate, signal }
  const episodes = await (run.rollout ?? rollout)(request)
  assertNotStopped(signal)
  await scoreEpisodes(episodes, { grpo, environment: environment.name, chosen: chosenBy(run), step: 1, ...(run.callCustom && { callCustom: run.callCustom }), signal })
  assertNotStopped(signal)
  const odd = whyNoChat(episodes)
  if (rows.from === 'pairs') {
    const none = odd ?? `In none of the ${seeds.length} groups that were played is one episode better than another, so there is no pair.`
    return { rows: preferences(episodes, environment, enable_thinking), name: `pairs of ${seeds.length} groups`, none }
  }
  const best = Math.max(...episodes.map(({ reward }) => reward ?? -Infinity))
  const none = odd ?? `None of the ${episodes.length} episodes that were played has a reward of ${rows.least} or more; ${best === -Infinity ? 'none has one' : `the best has ${best}`}.`
  return { rows: demonstrations(episodes, environment, enable_thinking, rows.least), name: `episodes of ${seeds.length} groups with reward from ${rows.least}`, none }
}

async function train(engine: Engine, data: StageData, { settings }: PlannedStage, { gate, signal, tell }: Told): Promise<Record<string, number | null>[]> {
  const done: Record<string, number | null>[] = []
  await trainStage({
    engine,
    data,
    settings,
    gate: () => waitAtGate(gate, signal),
    signal,
    onStep: (step, steps, metrics) => {
      done.push(metrics)
      tell('training', step, steps, metrics)
    },
  })
  return done
}

/** Why a stage cannot be trained by its settings; null when it can. */
function refusal({ kind, settings }: PlannedStage): PlaygroundError | null {
  try {
    checkStage(kind, settings)
    return null
  } catch (error) {
    if (error instanceof PlaygroundError) return error
    throw error
  }
}
