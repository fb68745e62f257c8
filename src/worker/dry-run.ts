/** A dry run: two groups of episodes and one training pass without an optimizer step. Adapter, optimizer and the run's random numbers stay as they are. */

import type { RunConfig } from '../core/config'
import type { DryRunReport } from '../core/dry-run'
import type { Engine, Trainer } from '../core/engine'
import type { Environment } from '../core/environment'
import { type Episode, unparsed, verdictOf } from '../core/episode'
import { describeError, PlaygroundError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import { hash } from '../core/random'
import { countTrained, mean, sum } from '../rl'
import type { ChatFormat } from '../rollout/chat'
import { rollout, type Rollout } from '../rollout/rollout'
import { assertNotStopped } from '../train/guard'
import { type CallCustom, chosenBy, groupsOf, scoreEpisodes } from '../train/scoring'
import { groupSeeds } from '../train/seeds'
import { updatePolicy } from '../train/update'
import type { Doing } from './examine'
import type { Command, Message } from './protocol'

/** Part of every random key of a dry run, so that its draws are nobody else's. */
const DRY_KEY = 0x44727952
const GROUPS = 2

/** What is tried: a loaded run. */
export interface DryRun {
  engine: Engine
  /** Connected. */
  environment: Environment
  chat: ChatFormat
  config: RunConfig
  /** Runs reward functions of the person's own; absent where there is no sandbox. */
  callCustom?: CallCustom
  /** Generates the episodes instead of the page's loop. */
  rollout?: Rollout
}

interface Options {
  onEvent: (event: TrainEvent) => void
  /** Episodes that have ended. */
  onProgress: (done: number, total: number) => void
  signal?: AbortSignal
  /** Seconds from any origin; tests replace the clock. */
  now?: () => number
}

/** Plays, measures and reports. Throws PlaygroundError 'stopped' when the signal aborts, else what sampling or training throws. */
export async function dryRun(run: DryRun, { onEvent, onProgress, signal, now = () => performance.now() / 1000 }: Options): Promise<DryRunReport> {
  const { engine, environment, config, callCustom } = run
  const { grpo } = config
  const began = now()
  const episodes = await play(run, onEvent, onProgress, signal)
  assertNotStopped(signal, STOPPED)
  await scoreEpisodes(episodes, { grpo, environment: environment.name, chosen: chosenBy(run), step: 1, ...(callCustom && { callCustom }), ...(signal && { signal }) })
  const sampled = now()
  const scorable = episodes.filter(({ reward }) => reward !== null)
  if (scorable.length > 0) await trainingPass(engine, config, scorable, signal)
  const seconds = { sampling: sampled - began, training: now() - sampled }
  const planned = grpo.num_generations * grpo.prompts_per_step
  const calls = episodes.flatMap(({ turns }) => turns.flatMap((turn) => turn.calls))
  const unscorable = episodes.find(({ reward }) => reward === null)
  return {
    grpo: { ...grpo },
    rewards: episodes.map(({ reward }) => reward),
    groups: GROUPS,
    useful: groupsOf(episodes, grpo).filter(({ signal: differs }) => differs).length,
    solved: scorable.some(({ success }) => success === undefined) ? null : scorable.filter(({ success }) => success).length,
    outOfTokens: episodes.filter(({ exit }) => exit === 'token_limit').length,
    outOfTurns: episodes.filter(({ exit }) => exit === 'turn_limit').length,
    calls: calls.length,
    toolErrors: calls.filter(({ error }) => error).length,
    unparsed: sum(episodes.flatMap(({ turns }) => turns.map(unparsed))),
    noCall: episodes.filter((episode) => verdictOf(episode) === 'no_call').length,
    error: unscorable ? (unscorable.error ?? `The environment "${environment.name}" gave no reward.`) : null,
    tokens: mean(episodes.map(({ mask }) => countTrained(mask))) ?? 0,
    seconds,
    step: {
      sampling: (seconds.sampling * planned) / episodes.length,
      training: scorable.length === 0 ? 0 : (seconds.training * planned * grpo.num_iterations) / scorable.length,
    },
  }
}

async function play({ engine, environment, chat, config, rollout: own }: DryRun, onEvent: Options['onEvent'], onProgress: Options['onProgress'], signal?: AbortSignal): Promise<Episode[]> {
  const { grpo, system_prompt, user_prompt } = config
  const seed = hash(grpo.seed, DRY_KEY)
  const total = GROUPS * grpo.num_generations
  let done = 0
  onProgress(done, total)
  return (own ?? rollout)({
    step: 0,
    groupSeeds: groupSeeds(seed, 0, GROUPS),
    num_generations: grpo.num_generations,
    split: 'train',
    firstPrompt: 0,
    config: { ...grpo, seed },
    system_prompt,
    user_prompt,
    environment,
    sampler: engine,
    chat,
    onEvent: (event) => {
      if (event.type === 'episode-finished') onProgress(++done, total)
      else if (event.type === 'notice') onEvent(event)
    },
    ...(signal ? { signal } : {}),
  })
}

/** Forward and backward through every episode, as a step would; the gradient is thrown away. */
async function trainingPass(engine: Trainer, { grpo }: RunConfig, episodes: readonly Episode[], signal?: AbortSignal): Promise<void> {
  let steps = 0
  const unmoved: Trainer = {
    // No reference is kept before the first step; the current adapter takes as long.
    score: (batch, options) => engine.score(batch, { ...options, ...(options.adapter === 'reference' && { adapter: 'current' as const }) }),
    accumulate: (...args) => engine.accumulate(...args),
    optimizerStep: async () => {
      engine.zeroGradients()
      steps++
      return { grad_norm: 0 }
    },
    zeroGradients: () => engine.zeroGradients(),
    freezeReference: () => undefined,
    get version() {
      return engine.version + steps
    },
    exportParameters: () => engine.exportParameters(),
    importParameters: async () => undefined,
    exportState: () => engine.exportState(),
    importState: async () => undefined,
  }
  await updatePolicy({
    engine: unmoved,
    grpo: { ...grpo, num_iterations: 1, steps_per_generation: 1 },
    episodes,
    // Episodes without an advantage are not sent backwards; here all are, as in a step where every group has a signal.
    advantages: episodes.map((_, i) => (i % 2 === 0 ? 1 : -1)),
    optimizerSteps: 0,
    maskEnvironment: true,
    onProgress: () => undefined,
    ...(signal ? { signal } : {}),
  })
}

/** Answers the page's request by one 'dry-run-done'; never rejects. */
export async function answerDryRun(run: DryRun | null, doing: Doing, { requestId }: Extract<Command, { type: 'dry-run' }>, post: (message: Message) => void, signal?: AbortSignal): Promise<void> {
  const answer = (result: Extract<Message, { type: 'dry-run-done' }>['result']): void => post({ type: 'dry-run-done', requestId, result })
  try {
    if (!run) return answer({ ok: false, error: 'There is no model to try yet. Wait until it is loaded.' })
    if (doing !== 'nothing') return answer({ ok: false, error: BUSY })
    assertNotStopped(signal, STOPPED)
    const report = await dryRun(run, {
      onEvent: (event) => post({ type: 'event', event }),
      onProgress: (done, total) => post({ type: 'dry-run-progress', requestId, done, total }),
      ...(signal ? { signal } : {}),
    })
    answer({ ok: true, report })
  } catch (error) {
    answer({ ok: false, error: error instanceof PlaygroundError && error.kind === 'stopped' ? STOPPED : describeError(error) })
  }
}

const STOPPED = 'The dry run was stopped: something else needed the model.'
const BUSY = 'A step is being trained. Let it finish (GRPO step beside Step), then try the settings.'
