/** What the slow step says at each part: one sentence, with the numbers of the step that is shown. */

import type { GrpoConfig } from '../../core/config'
import type { StepSummary } from '../../core/run-record'
import { standardDeviation } from '../../rl'
import type { TokenLog } from '../../store/token-log'
import type { EpisodeView, StepView } from '../../store/view'
import { SLOW_STEP_STRINGS as W } from '../../ui/slow-step-strings'
import { groupOf, type GroupView, isRewardless } from '../group/group-view'
import { explainSilence, workedOut } from '../rewards/explain'
import { whySilent } from '../../store/signal'
import type { Beat } from './beats'

export interface SlowStepSource {
  step: StepView
  /** Index of the selected episode. */
  episode: number
  log: TokenLog
  history: readonly StepSummary[]
  grpo: GrpoConfig
}

export type Captions = Record<Beat['id'], string>

/** The selected episode if it has an advantage, else the one of its group with the largest; null where none has. */
export function heroOf(group: GroupView, selected: number): EpisodeView | null {
  const some = group.episodes.flatMap((e) => (e !== null && e.advantage !== null && e.advantage !== 0 ? [e] : []))
  const own = some.find((e) => e.index === selected)
  return own ?? some.sort((a, b) => Math.abs(b.advantage ?? 0) - Math.abs(a.advantage ?? 0) || a.index - b.index)[0] ?? null
}

/** Of a finished step. */
export function captionsOf({ step, episode, log, history, grpo }: SlowStepSource): Captions {
  const group = groupOf(step, episode)
  const hero = heroOf(group, episode)
  const episodes = group.episodes.filter((e) => e !== null)
  const summary = history.find((s) => s.step === step.step)
  const written = (e: EpisodeView) => log.read(step.step, e.index).filter((token) => token.author === 'model').length
  const trained = (e: EpisodeView) => log.read(step.step, e.index).filter((token) => token.mask === 1).length
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return {
    prompt: (isRewardless(group) ? W.promptAlone : W.prompt)(step.step, episodes[0]?.seed ?? 0, group.size),
    episodes: W.episodes(group.size, sum(episodes.map(written)), grpo.temperature),
    rewards: rewardsCaption(group),
    advantages: advantageCaption(step, group, hero, grpo),
    tokens: hero ? W.tokens(hero.index - group.firstIndex + 1, trained(hero), hero.advantage ?? 0) : W.noTint,
    formula: formulaCaption(sum(step.episodes.filter((e) => e.reward !== null).map(trained)), step, summary, grpo),
    curve: curveCaption(step.step, history),
  }
}

function rewardsCaption(group: GroupView): string {
  const { episodes, stats } = group
  const words = isRewardless(group) ? W.judged : W.rewards
  const rewards = episodes.flatMap((e) => (e === null || e.reward === null ? [] : [e.reward]))
  const missing = episodes.length - rewards.length
  const parts = rewards.length === 0 ? [W.noReward] : [words(Math.min(...rewards), Math.max(...rewards), stats?.mean ?? null, stats?.std ?? null)]
  return [...parts, ...(missing > 0 && rewards.length > 0 ? [W.leftOut(missing)] : [])].join(' ')
}

function advantageCaption(step: StepView, group: GroupView, hero: EpisodeView | null, { scale_rewards, beta, multi_objective_aggregation }: GrpoConfig): string {
  const { stats } = group
  if (hero === null || hero.reward === null || hero.advantage === null) return explainSilence(whySilent(group.episodes), beta).join(' ')
  const batchStd = standardDeviation(step.episodes.map((e) => e.reward))
  const sum = workedOut(hero.reward, hero.advantage, { stats, scale: scale_rewards, batchStd, byFunction: multi_objective_aggregation === 'normalize_then_sum' })
  return W.advantage(sum ?? '', hero.index - group.firstIndex + 1, hero.advantage > 0)
}

function formulaCaption(tokens: number, step: StepView, summary: StepSummary | undefined, { loss_type }: GrpoConfig): string {
  const norm = summary?.metrics['grad_norm']
  const rate = summary?.metrics['learning_rate']
  const update = typeof norm === 'number' && typeof rate === 'number' ? [W.update(rate, norm)] : []
  return [W.formula(tokens, step.groupCount, loss_type), ...update].join(' ')
}

function curveCaption(step: number, history: readonly StepSummary[]): string {
  const reward = history.find((s) => s.step === step)?.metrics['reward']
  if (typeof reward !== 'number') return W.noPoint(step)
  const last = history.findLast((s) => s.step < step && typeof s.metrics['reward'] === 'number')
  const before = last?.metrics['reward']
  const parts = [W.curve(reward, step), ...(last && typeof before === 'number' ? [W.before(before, last.step)] : [])]
  return `${parts.join(', ')}.`
}
