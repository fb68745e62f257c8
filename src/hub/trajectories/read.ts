/** Trajectories that were taken away, brought back: JSONL or Parquet, ours or TRL's completions table. */

import { PlaygroundError } from '../../core/errors'
import { newId } from '../../core/new-id'
import type { PlacedRow } from '../../core/rows'
import type { KeptEpisode, RunRecord } from '../../core/run-record'
import { isOwnRewardAlone } from '../../core/reward-funcs'
import { rewardColumn, rewardsOf } from './columns'
import { completionOf } from './completion-row'
import { episodeOf, RowFault } from './episode-row'
import { bareRun, parseRun } from './run'
import { tableRows } from './table-rows'

export interface Trajectories {
  /** As it was exported; otherwise what the rows tell, with empty texts for the rest. Its checkpoint is null. */
  run: RunRecord
  /** By step, oldest first; in a step by index. */
  episodes: KeptEpisode[][]
  /** Whether the rows hold tokens; false for TRL's table, where a piece of text stands for all its tokens. */
  tokens: boolean
  /** Sentences about what is missing from the file. */
  notices: string[]
}

/**
 * Reads a whole file.
 * @param name for errors, and for a run that has no name in the file
 * @throws PlaygroundError('config') with the line or row and the column that cannot be read
 */
export async function readTrajectories(file: Blob, name: string): Promise<Trajectories> {
  const collected = new Collected(name)
  for await (const placed of tableRows(file, name)) collected.add(placed)
  return collected.finish()
}

class Collected {
  private readonly steps = new Map<number, Map<number, KeptEpisode>>()
  private run: RunRecord | null = null
  private runId: string | null = null
  private kind: 'tokens' | 'completions' | null = null
  /** A run is there that could not be read. */
  private unread = false
  private readonly rewards = new Set<string>()

  constructor(private readonly name: string) {}

  add({ place, row }: PlacedRow): void {
    const kind = row.ids === undefined || row.ids === null ? 'completions' : 'tokens'
    if (this.kind !== null && kind !== this.kind) this.refuse(place, `column ids is ${kind === 'tokens' ? 'there, but was missing before' : 'missing'}`)
    this.kind = kind
    try {
      if (kind === 'tokens') this.addEpisode(place, row)
      else this.addCompletion(row)
    } catch (error) {
      if (error instanceof RowFault) this.refuse(place, error.message)
      throw error
    }
  }

  private addEpisode(place: string, row: Record<string, unknown>): void {
    const { runId, episode: read } = episodeOf(row)
    if (typeof row.run === 'string' && this.run === null) this.readRun(row.run)
    const rewards = this.run && partsOf(row, this.run)
    const episode = rewards ? { ...read, rewards } : read
    this.runId ??= runId
    if (runId !== this.runId) {
      this.refuse(place, `column run_id is ${JSON.stringify(runId)}, but the rows before are of the run ${JSON.stringify(this.runId)}`, 'Give the rows of one run.')
    }
    const step = this.step(episode.step)
    if (step.has(episode.index)) this.refuse(place, `episode ${episode.index} of step ${episode.step} is there twice`)
    step.set(episode.index, episode)
  }

  /** The table has no groups: attempts at one prompt follow each other. */
  private addCompletion(row: Record<string, unknown>): void {
    const { episode, rewards } = completionOf(row)
    for (const name of rewards) this.rewards.add(name)
    const step = this.step(episode.step)
    const before = step.get(step.size - 1)
    const group = before === undefined ? 0 : before.group + (before.prompt === episode.prompt ? 0 : 1)
    step.set(step.size, { ...episode, index: step.size, group })
  }

  finish(): Trajectories {
    const tokens = this.kind === 'tokens'
    const episodes = [...this.steps].sort(([a], [b]) => a - b).map(([, step]) => [...step.values()].sort((a, b) => a.index - b.index))
    const first = episodes[0]
    if (first === undefined) throw new PlaygroundError('config', `${this.name} has no rows.`, 'Export the trajectories again.')
    const run = this.run ?? this.bareRun(first, episodes)
    return { run, episodes, tokens, notices: this.notices(tokens) }
  }

  private bareRun(first: readonly KeptEpisode[], episodes: readonly KeptEpisode[][]): RunRecord {
    const groups = new Set(first.map(({ group }) => group)).size
    return bareRun({
      id: this.runId ?? newId(),
      name: this.name,
      environment: [...this.rewards].join(' + ') || this.name,
      step: episodes.at(-1)?.[0]?.step ?? 0,
      num_generations: Math.max(1, Math.round(first.length / groups)),
      prompts_per_step: groups,
    })
  }

  private notices(tokens: boolean): string[] {
    if (tokens) {
      if (this.run !== null) return []
      const what = this.unread ? 'holds settings of the run that this version does not understand' : 'does not hold the run’s settings'
      return [`${this.name} ${what}: only its episodes are shown.`]
    }
    const rewards = [...this.rewards].join(', ')
    const sum = this.rewards.size > 1 ? ` The reward is the sum of the columns ${rewards}.` : rewards === '' ? ' It has no reward.' : ''
    return [
      `${this.name} holds text without token ids, as TRL logs it: each text is shown as one piece, and log-probs, turns, masks and how an episode ended are not known.${sum}`,
    ]
  }

  private step(step: number): Map<number, KeptEpisode> {
    const known = this.steps.get(step) ?? new Map<number, KeptEpisode>()
    this.steps.set(step, known)
    return known
  }

  /** Another version's settings must not keep the episodes from being seen. */
  private readRun(json: string): void {
    try {
      this.run = parseRun(json)
    } catch {
      this.unread = true
    }
  }

  private refuse(place: string, fault: string, advice = 'Export the trajectories again.'): never {
    throw new PlaygroundError('config', `${this.name}, ${place}: ${fault}.`, advice)
  }
}

/** What each reward function gave, by its column; null where the environment's own reward is all there was. */
function partsOf(row: Record<string, unknown>, run: RunRecord): KeptEpisode['rewards'] | null {
  const { reward_funcs, reward_weights } = run.config.grpo
  if (isOwnRewardAlone(reward_funcs, reward_weights)) return null
  const given = rewardsOf(run).map((name): [string, number | null] => {
    const value = row[rewardColumn(name)]
    return [name, typeof value === 'number' && !Number.isNaN(value) ? value : null]
  })
  return Object.fromEntries(given)
}
