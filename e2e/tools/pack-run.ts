/** A run's steps → the recorded run's file: what the panels draw of it, numbers rounded to what they show. */

import type { RunConfig } from '../../src/core/config'
import type { EngineInfo } from '../../src/core/engine'
import type { KeptEpisode, StepSummary } from '../../src/core/run-record'
import type { PolicyComparison } from '../../src/core/examination'
import type { TimelineSpan } from '../../src/core/timeline'
import type { Tool } from '../../src/core/tools'
import { RECORDED_RUN_VERSION, type RecordedRunFile } from '../../src/store/recorded-run'
import { SPAN_LETTERS, TENTHS } from '../../src/store/recorded-timeline'
import { packComparisons } from './pack-comparisons'
import { letters, optionParts, parts, rounded } from './pack-fields'

export interface RunToPack {
  createdAt: number
  config: RunConfig
  engine: EngineInfo
  environment: { tools: Tool[]; prompts: { system: string; user: string } }
  history: StepSummary[]
  /** `trained`: episodes that the update went through. */
  steps: { trained: number; episodes: KeptEpisode[]; timeline?: TimelineSpan[] | undefined }[]
  comparisons: PolicyComparison[]
}

/** @throws Error on an episode that the file's form has no room for (unscorable, or with a prompt unlike its group's) */
export function packRun({ createdAt, config, engine, environment, history, steps, comparisons }: RunToPack): RecordedRunFile {
  const texts = new Map<number, string>()
  const played = [...steps.flatMap((step) => step.episodes), ...comparisons.flatMap(({ base, lora }) => [base, lora])]
  for (const { ids, texts: own, alternatives } of played) {
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
    steps: steps.map(({ trained, episodes, timeline }) => ({
      trained,
      prompts: promptsOf(episodes),
      episodes: episodes.map(packEpisode),
      ...(timeline && { timeline: packTimeline(timeline) }),
    })),
    comparisons: packComparisons(comparisons),
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
  const { step, index, group, seed, ids, authors, mask, promptLength, turns, scene, reward, success, exit, terminated, advantage, trainLogprobs, entropies, baseLogprobs, afterLogprobs } = episode
  const where = `Step ${step}, episode ${index}`
  if (exit !== 'env_done' && exit !== 'answered' && exit !== 'turn_limit' && exit !== 'token_limit') throw new Error(`${where} ended with ${exit}`)
  if (reward === null || !trainLogprobs || !entropies || !baseLogprobs || !afterLogprobs) throw new Error(`${where} was not scored`)
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
    baseLogprobs: sampled(baseLogprobs).map(parts),
    afterLogprobs: sampled(afterLogprobs).map(parts),
    alternatives: sampled(episode.alternatives).map(optionParts),
    turns: turns.map((turn) => ({ ...turn, calls: turn.calls.map((call) => ({ ...call, ms: rounded(call.ms, 2) })) })),
    scene,
    reward,
    ...(success !== undefined && { success }),
    exit,
    terminated,
    advantage,
  }
}

function packTimeline(spans: readonly TimelineSpan[]): NonNullable<PackedStep['timeline']> {
  const letterOf = ({ kind, part }: TimelineSpan): string => {
    const letter = Object.entries(SPAN_LETTERS).find(([, span]) => span.kind === kind && span.part === part)?.[0]
    if (letter === undefined) throw new Error(`A span of ${kind} ${part ?? ''} has no letter`)
    return letter
  }
  const starts = spans.map(({ start }) => Math.round(TENTHS * start))
  return {
    kinds: spans.map(letterOf).join(''),
    lanes: spans.map(({ lane }) => lane),
    episodes: spans.map(({ episode }) => episode),
    turns: spans.map(({ turn }) => turn),
    starts: starts.map((start, i) => start - (starts[i - 1] ?? 0)),
    lengths: spans.map(({ end }, i) => Math.round(TENTHS * end) - (starts[i] as number)),
  }
}
