/** The same episode twice, once by the base model alone and once with the LoRA: same prompt, same scenario, same random numbers. */

import type { RunConfig } from '../core/config'
import type { Engine } from '../core/engine'
import type { Environment } from '../core/environment'
import { UNSCORABLE_EXITS, type Episode } from '../core/episode'
import { describeError, PlaygroundError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import type { ComparedEpisode, PolicyComparison } from '../core/examination'
import { hash } from '../core/random'
import type { ChatFormat } from '../rollout/chat'
import { rollout } from '../rollout/rollout'
import { assertNotStopped } from '../train/guard'
import { assertHasBase, type Doing, examine } from './examine'
import { withTexts } from './kept-episode'
import type { Command, Message } from './protocol'

/** Part of every random key of a comparison, so that its draws are nobody else's. */
const COMPARE_KEY = 0x436f6d70

type Wanted = Pick<PolicyComparison, 'seed' | 'split' | 'temperature'>

/** What plays: a loaded run. */
export interface Compared {
  engine: Engine
  /** Connected. */
  environment: Environment
  chat: ChatFormat
  config: RunConfig
  trainer: { readonly stepNumber: number }
}

/**
 * Plays both episodes and scores each under both policies. It empties the sampler's slots; adapter, optimizer and the run's random
 * numbers stay as they are.
 *
 * @throws PlaygroundError 'environment' when an episode cannot be scored, 'stopped' when the signal aborts, 'config' for what cannot be played
 */
export async function comparePolicies(run: Compared, wanted: Wanted, onEvent: (event: TrainEvent) => void, signal?: AbortSignal): Promise<PolicyComparison> {
  const { engine, environment, chat, trainer } = run
  check(wanted)
  assertHasBase(engine)
  const base = await withBase(engine, () => play(run, wanted, onEvent, signal))
  const lora = await play(run, wanted, onEvent, signal)
  const sequences = [base, lora].map(({ ids, mask, promptLength }) => ({ ids, mask, promptLength }))
  const [ofBase, ofLora] = await examine(engine, sequences, wanted.temperature)
  if (!ofBase || !ofLora) throw new PlaygroundError('engine', 'The engine gave no scores.')
  return {
    ...wanted,
    step: trainer.stepNumber,
    base: compared(base, ofBase.baseLogprobs, ofBase.logprobs, environment, chat),
    lora: compared(lora, ofLora.logprobs, ofLora.baseLogprobs, environment, chat),
  }
}

async function play({ engine, environment, chat, config }: Compared, { seed, split, temperature }: Wanted, onEvent: (event: TrainEvent) => void, signal?: AbortSignal): Promise<Episode> {
  const { grpo, system_prompt, user_prompt } = config
  const [episode] = await rollout({
    step: 0,
    groupSeeds: [seed],
    num_generations: 1,
    split,
    config: { ...grpo, seed: hash(grpo.seed, COMPARE_KEY, seed), temperature },
    system_prompt,
    user_prompt,
    environment,
    sampler: engine,
    chat,
    onEvent: (event) => event.type === 'notice' && onEvent(event),
    ...(signal ? { signal } : {}),
  })
  assertNotStopped(signal, 'The comparison was stopped.')
  if (!episode || UNSCORABLE_EXITS.includes(episode.exit)) {
    const why = episode?.error ?? 'it gave no episode'
    throw new PlaygroundError('environment', `The environment "${environment.name}" failed: ${why.replace(/\.$/, '')}.`, 'Try again, or choose another seed.')
  }
  return episode
}

/** Does some work while the sampler's weights are the base model's alone. */
export async function withBase<T>(engine: Pick<Engine, 'useAdapter'>, work: () => Promise<T>): Promise<T> {
  try {
    await engine.useAdapter('off')
    return await work()
  } finally {
    await engine.useAdapter('current')
  }
}

function compared(episode: Episode, logprobs: number[], otherLogprobs: number[], environment: Environment, chat: ChatFormat): ComparedEpisode {
  const { ids, authors, mask, promptLength, turns, scene, reward, exit } = episode
  return {
    ids,
    authors,
    mask,
    logprobs,
    otherLogprobs,
    ...withTexts(episode, chat),
    promptLength,
    turns: turns.map(({ start, end, resultEnd, calls, scene: after }) => ({
      start,
      end,
      resultEnd,
      reward: calls.findLast((call) => call.reward !== null)?.reward ?? null,
      ...(after === undefined ? {} : { scene: after }),
    })),
    ...(scene === undefined ? {} : { scene }),
    reward,
    success: reward === null ? null : (episode.success ?? environment.isSuccess(reward)),
    exit,
  }
}

function check({ seed, temperature }: Wanted): void {
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 31) throw new PlaygroundError('config', `The seed must be a whole number from 0 to 2147483647; it is ${seed}.`)
  if (!(temperature >= 0 && temperature < Infinity)) throw new PlaygroundError('config', `temperature must be a number from 0; it is ${temperature}.`)
}

/** Answers the page's request by one 'compared'; never rejects. A step in its middle holds the slots that an episode needs. */
export async function answerComparison(
  run: Compared | null,
  doing: Doing,
  { requestId, seed, split, temperature }: Extract<Command, { type: 'compare' }>,
  post: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  const answer = (result: Extract<Message, { type: 'compared' }>['result']): void => post({ type: 'compared', requestId, result })
  try {
    if (!run) return answer({ ok: false, error: 'There is no model to play yet. Wait until it is loaded.' })
    if (doing !== 'nothing') return answer({ ok: false, error: BUSY[doing] })
    assertNotStopped(signal, STOPPED)
    answer({ ok: true, comparison: await comparePolicies(run, { seed, split, temperature }, (event) => post({ type: 'event', event }), signal) })
  } catch (error) {
    answer({ ok: false, error: error instanceof PlaygroundError && error.kind === 'stopped' ? STOPPED : describeError(error) })
  }
}

const STOPPED = 'The comparison was stopped: something else needed the model.'
const BUSY = {
  held: 'The run is paused in the middle of a step. Choose GRPO step beside Step and press it, to finish the step first.',
  working: 'The model is busy with a step. Press Pause first, and Step if the pause is in the middle of a step.',
}
