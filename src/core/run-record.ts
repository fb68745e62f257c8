/** A run as it is kept, compared and taken away: plain data, without the adapter's tensors. */

import { EARLIER_GRPO, type LoraConfig, type RunConfig } from './config'
import type { DatasetFacts } from './dataset'
import type { DiscoveredEnvironment } from './discovered'
import type { EngineInfo } from './engine'
import type { MemberFacts } from './environment'
import type { EvaluationRecord } from './evaluation'
import type { Metrics, ScoredEpisode, StepRecord, TokenOption } from './events'
import type { StageRecord } from './stage'
import { byStart, type TimelineSpan } from './timeline'
import type { Tool } from './tools'

export type { EvaluationHow, EvaluationRecord } from './evaluation'

/** One step reduced to its numbers. */
export interface StepSummary {
  step: number
  metrics: Metrics
  rewardMin: number | null
  rewardMax: number | null
  groups: readonly StepRecord['groups'][number][]
  episodes: number
  unscorable: number
  seconds: { sampling: number; training: number }
  version: number
}

/** One step reduced to the numbers that outlive its episodes. */
export function summarise(record: StepRecord): StepSummary {
  const rewards = record.episodes.flatMap((e) => (e.reward === null ? [] : [e.reward]))
  return {
    step: record.step,
    metrics: record.metrics,
    rewardMin: rewards.length > 0 ? Math.min(...rewards) : null,
    rewardMax: rewards.length > 0 ? Math.max(...rewards) : null,
    groups: record.groups,
    episodes: record.episodes.length,
    unscorable: record.episodes.length - rewards.length,
    seconds: record.seconds,
    version: record.version,
  }
}

/** What a run is, beside its steps: written when it begins and at every step. */
export interface RunRecord {
  /** Random, unique among the runs of this browser. */
  id: string
  name: string
  notes: string
  /** Milliseconds since 1970. */
  createdAt: number
  updatedAt: number
  config: RunConfig
  /** The Hub's commit of the base model; null for a model of this site. */
  modelSha: string | null
  /** The LoRA that is trained; null in full-parameter training. */
  lora: LoraConfig | null
  /** That computes it now, or did so last. */
  engine: EngineInfo
  /** Those before, oldest first, where it was trained on several. */
  earlierEngines?: EngineInfo[]
  environment: {
    name: string
    /** As the model sees them. */
    tools: Tool[]
    prompts: { system: string; user: string }
    /**
     * Of an OpenEnv server: what discovery found, with the tools as the server understands them (without the edits) and what is sent for
     * each call. Null or absent for built-in environments.
     */
    discovered?: DiscoveredEnvironment | null
    /** The dataset that it read; absent for none. */
    dataset?: DatasetFacts
    /** Of several environments, each; tools and prompts above are the first one's. */
    members?: MemberFacts[]
  }
  /** Finished steps. */
  step: number
  /** The newest step that the run can go on from; null when none is kept. */
  checkpoint: number | null
  finished: boolean
  evaluations: EvaluationRecord[]
  /** What the adapter was trained with before and between its GRPO steps, in order; absent for none. */
  stages?: StageRecord[]
  /** What it takes in this browser's storage, all together. */
  bytes: number
  /** The episodes' part of it. */
  episodeBytes?: number
  /** Steps whose episodes were dropped to stay within the quota, oldest first. */
  droppedSteps: number
  /** This program's version. */
  version: string
}

/** An episode as it is archived: with its texts, so that it can be read without the tokenizer. */
export interface KeptEpisode extends ScoredEpisode {
  /** Text of every token as the trajectory shows it, [tokens]. */
  texts: string[]
  /** Likeliest tokens where the model sampled, with the texts that a person reads. */
  alternatives: (TokenOption[] | null)[]
  /** TRL's columns: the ids decoded with special tokens removed. */
  prompt: string
  completion: string
  /** What its slot did for it; with the first episode also what belongs to none. Absent where nobody measured it. */
  spans?: TimelineSpan[]
  /** Its group was sampled again, so no update saw it; told where episodes are exported without their step's groups. */
  discarded?: true
}

/** Hands a step's timeline to its episodes, so that it is kept as long as they are. */
export function withSpans<E extends KeptEpisode>(episodes: readonly E[], timeline: readonly TimelineSpan[] | undefined): E[] {
  if (!timeline?.length) return [...episodes]
  const known = new Set(episodes.map(({ index }) => index))
  return episodes.map((episode, i) => {
    const spans = timeline.filter((span) => span.episode === episode.index || (i === 0 && !known.has(span.episode)))
    return spans.length > 0 ? { ...episode, spans } : episode
  })
}

/** Marks the episodes whose groups the step's summary has as sampled again. */
export function withDiscarded<E extends KeptEpisode>(episodes: readonly E[], groups: readonly StepSummary['groups'][number][] = []): E[] {
  const discarded = new Set(groups.flatMap((group) => (group.discarded ? [group.group] : [])))
  return episodes.map((episode) => (discarded.has(episode.group) ? { ...episode, discarded: true } : episode))
}

/** The timeline that a step's episodes were kept with; undefined for none. */
export function timelineOf(episodes: readonly KeptEpisode[]): TimelineSpan[] | undefined {
  const spans = episodes.flatMap((episode) => episode.spans ?? [])
  return spans.length > 0 ? byStart(spans) : undefined
}

/** A file of an export, its path relative to the folder that is taken away. */
export interface ExportFile {
  path: string
  content: string | Uint8Array<ArrayBuffer> | Blob
}

/** A config that was kept or recorded by any version of the page: what it lacks is what runs of that time were trained with. */
export function withEarlierSettings(config: RunConfig): RunConfig {
  return { ...config, grpo: { ...EARLIER_GRPO, ...config.grpo } }
}
