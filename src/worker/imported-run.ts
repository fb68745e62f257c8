/** Trajectories from a file → a run to look at: its steps are measured again from its episodes, by the code that measures a live run. */

import type { KeptEpisode, RunRecord, StepSummary } from '../core/run-record'
import { summarise } from '../core/run-record'
import { completionMetrics, countTokens, environmentMetrics, groupStatistics, mean, mismatchMetrics, mismatchOptions, rewardMetrics, type GroupStatistics } from '../rl'

export interface ImportedRun {
  run: RunRecord
  history: StepSummary[]
  episodes: KeptEpisode[][]
  /** Sentences about what the file does not hold. */
  notices: string[]
}

/** Throws PlaygroundError('config') with the line or row and the column that cannot be read. */
export async function importTrajectories(file: Blob, name: string): Promise<ImportedRun> {
  const { readTrajectories } = await import('../hub/trajectories')
  const { run, episodes, tokens, notices } = await readTrajectories(file, name)
  let seen = 0
  const history = episodes.map((step) => {
    seen += countTokens(step)
    return summaryOf(run, step, tokens ? { ...tokenMetrics(run, step), num_tokens: seen } : {})
  })
  return { run, history, episodes, notices }
}

/** What the update measured (loss, grad_norm, clip ratios) and how long it took are in no episode: these metrics are absent. */
function summaryOf(run: RunRecord, episodes: KeptEpisode[], more: StepSummary['metrics']): StepSummary {
  const step = episodes[0]?.step ?? 0
  const groups = groupsOf(episodes)
  const solved = new Set(episodes.filter(({ success }) => success).map(({ reward }) => reward))
  const { name } = run.environment
  const { scale_rewards } = run.config.grpo
  const rewards = rewardMetrics(episodes, groups, episodes.map(({ advantage }) => advantage), { name, scale_rewards, isSuccess: (reward) => solved.has(reward) })
  const success: StepSummary['metrics'] = episodes.some((episode) => episode.success !== undefined) ? {} : { success: null }
  return summarise({ step, episodes, groups, metrics: { ...rewards, ...success, ...more }, seconds: { sampling: 0, training: 0 }, version: step })
}

function tokenMetrics(run: RunRecord, episodes: readonly KeptEpisode[]): StepSummary['metrics'] {
  const trained = episodes.flatMap(({ mask, logprobs, trainLogprobs }) => (trainLogprobs ? [{ mask, sampler: logprobs, train: trainLogprobs }] : []))
  const entropies = episodes.flatMap(({ mask, entropies: all }) => (all ?? []).filter((_, i) => mask[i] === 1))
  const { grpo } = run.config
  // Of several optimizer steps the curve is a mean over all, and the episodes hold what was before the first.
  const isOne = grpo.num_iterations * grpo.steps_per_generation === 1
  return { ...completionMetrics(episodes), ...environmentMetrics(episodes), ...mismatchMetrics(trained, mismatchOptions(grpo, episodes.some(({ stale }) => stale))), ...(isOne && { entropy: mean(entropies) }) }
}

/** Groups of any size: rows may have been taken out of the file. */
function groupsOf(episodes: readonly KeptEpisode[]): (GroupStatistics & { discarded?: true })[] {
  const members = new Map<number, KeptEpisode[]>()
  for (const episode of episodes) members.set(episode.group, [...(members.get(episode.group) ?? []), episode])
  return [...members].flatMap(([group, those]) => groupStatistics(those.map(({ reward }) => reward), those.length).map((found) => ({ ...found, group, ...(those.some(({ discarded }) => discarded) && { discarded: true as const }) })))
}
