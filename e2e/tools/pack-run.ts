/** A run's steps → the recorded run's file: what the panels draw of it, numbers rounded to what they show. */

import type { RunConfig } from '../../src/core/config'
import type { EngineInfo } from '../../src/core/engine'
import type { KeptEpisode, StepSummary } from '../../src/core/run-record'
import type { Tool } from '../../src/core/tools'
import { AUTHOR_LETTERS, PART, RECORDED_RUN_VERSION, type RecordedRunFile } from '../../src/store/recorded-run'

export interface RunToPack {
  createdAt: number
  config: RunConfig
  engine: EngineInfo
  environment: { tools: Tool[]; prompts: { system: string; user: string } }
  history: StepSummary[]
  /** `trained`: episodes that the update went through. */
  steps: { trained: number; episodes: KeptEpisode[] }[]
}

/** @throws Error on an episode that the file's form has no room for (unscorable, or with a prompt unlike its group's) */
export function packRun({ createdAt, config, engine, environment, history, steps }: RunToPack): RecordedRunFile {
  const texts = new Map<number, string>()
  for (const { ids, texts: own, alternatives } of steps.flatMap((step) => step.episodes)) {
    ids.forEach((id, i) => texts.set(id, own[i] ?? ''))
    for (const { id, text } of alternatives.flatMap((options) => options ?? [])) if (text !== undefined) texts.set(id, text)
  }
  return {
    format: 'grpo-playground recorded run',
    version: RECORDED_RUN_VERSION,
    createdAt,
    config,
    engine,
    environment,
    texts: [...texts].sort(([a], [b]) => a - b),
    history: history.map((summary) => ({ ...summary, groups: [...summary.groups], seconds: { sampling: rounded(summary.seconds.sampling, 4), training: rounded(summary.seconds.training, 4) } })),
    steps: steps.map(({ trained, episodes }) => ({ trained, prompts: promptsOf(episodes), episodes: episodes.map(packEpisode) })),
  }
}

type PackedStep = RecordedRunFile['steps'][number]

function promptsOf(episodes: readonly KeptEpisode[]): PackedStep['prompts'] {
  const prompts: PackedStep['prompts'] = []
  for (const { step, index, group, ids, authors, promptLength } of episodes) {
    const prompt = { ids: ids.slice(0, promptLength), authors: letters(authors.slice(0, promptLength)) }
    prompts[group] ??= prompt
    if (JSON.stringify(prompts[group]) !== JSON.stringify(prompt)) throw new Error(`Step ${step}, episode ${index}: its prompt is not its group's`)
  }
  return prompts
}

function packEpisode(episode: KeptEpisode): PackedStep['episodes'][number] {
  const { step, index, group, seed, ids, authors, mask, promptLength, turns, scene, reward, success, exit, terminated, advantage, trainLogprobs, entropies } = episode
  const where = `Step ${step}, episode ${index}`
  if (exit !== 'env_done' && exit !== 'answered' && exit !== 'turn_limit' && exit !== 'token_limit') throw new Error(`${where} ended with ${exit}`)
  if (reward === null || !trainLogprobs || !entropies) throw new Error(`${where} was not scored`)
  if (authors.some((author, i) => (author === 'model') !== (mask[i] === 1))) throw new Error(`${where}: its mask is not the model's tokens`)
  const sampled = <T>(values: readonly T[]): T[] => values.filter((_, i) => mask[i] === 1)
  return {
    index,
    group,
    seed,
    ids: ids.slice(promptLength),
    authors: letters(authors.slice(promptLength)),
    logprobs: sampled(episode.logprobs).map(parts),
    trainLogprobs: sampled(trainLogprobs).map(parts),
    entropies: sampled(entropies).map(parts),
    alternatives: sampled(episode.alternatives).map((options) => (options ?? []).flatMap(({ id, prob }) => [id, parts(prob)])),
    turns: turns.map((turn) => ({ ...turn, calls: turn.calls.map((call) => ({ ...call, ms: rounded(call.ms, 2) })) })),
    scene,
    reward,
    ...(success !== undefined && { success }),
    exit,
    terminated,
    advantage,
  }
}

function letters(authors: readonly KeptEpisode['authors'][number][]): string {
  return authors.map((author) => AUTHOR_LETTERS[author]).join('')
}

const parts = (value: number): number => Math.round(value * PART) + 0

/** To so many places after the point; -0 becomes 0. */
function rounded(value: number, places: number): number {
  return Number(value.toFixed(places)) + 0
}
