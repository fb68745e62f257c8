/** Calls reward functions on the episodes that the page shows, before anything is trained with them. */

import { errorText } from './error-text'
import { amongAll, type ChosenNames, type EnvironmentTake, isFor, NEEDS_SOLUTION, type RewardFunc, rewardNames } from '../../core/reward-funcs'
import { builtinReward } from '../../rl/rewards/builtin'
import type { CompletionMessage } from '../../rl/rewards/contract'
import type { SandboxClient } from '../../env/custom/sandbox-client'
import type { LoggedToken } from '../../store/token-log'
import type { EpisodeView } from '../../store/view'
import { weightedRewards } from '../../rl'

export interface TriedEpisode {
  view: EpisodeView
  tokens: readonly LoggedToken[]
}

export interface Tried {
  names: string[]
  /** By function; an error instead of rewards where it failed. */
  columns: { rewards: (number | null)[]; error: string | null; metrics: Record<string, number | null>; logs: readonly string[]; /** Completions that it gave NaN. */ nan?: number }[]
  sums: (number | null)[]
}

/** TRL's arguments, as far as the page knows them: messages are the texts by who wrote them. */
export function argumentsOf(episodes: readonly TriedEpisode[], environment: string) {
  const keys = [...new Set(episodes.flatMap(({ view }) => Object.keys(view.columns ?? {})))]
  return {
    ...Object.fromEntries(keys.map((key) => [key, episodes.map(({ view }) => view.columns?.[key] ?? null)])),
    prompts: episodes.map(({ view, tokens }) => [{ role: 'user', content: textOf(tokens.slice(0, view.promptLength)) }]),
    completions: episodes.map(({ view, tokens }) => messagesOf(tokens.slice(view.promptLength))),
    completion_ids: episodes.map(({ view, tokens }) => tokens.slice(view.promptLength).map(({ id }) => id)),
    environments: episodes.map(({ view: { seed, reward, success, exit, answers } }) => ({ name: environment, seed, reward, success, exit, turns: answers.map((answer) => ({ reward: answer.reward, calls: [] })) })),
    trainer_state: { global_step: Math.max(0, (episodes[0]?.view.step ?? 1) - 1), max_steps: 0 },
  }
}

const SPECIAL = /<\|[a-z_]+\|>/g
const textOf = (tokens: readonly LoggedToken[]) => tokens.map(({ text }) => text).join('')

/** The model's turns and the environment's answers between them; what the template wrote is left out. */
function messagesOf(tokens: readonly LoggedToken[]): CompletionMessage[] {
  const messages: CompletionMessage[] = []
  let before: LoggedToken['author'] | null = null
  for (const { author, text } of tokens) {
    if (author !== 'template') {
      const role = author === 'model' ? 'assistant' : 'tool'
      const last = messages.at(-1)
      if (last?.role === role && before === author) last.content += text
      else messages.push({ role, content: text })
    }
    before = author
  }
  return messages.map(({ role, content }) => ({ role, content: content.replace(SPECIAL, '') }))
}

/** Never rejects: each function's failure stands in its column. `chosen`: of several environments; episodes that a function is not for get null. */
export async function tryRewards(
  funcs: readonly RewardFunc[],
  weights: readonly number[] | null,
  all: readonly TriedEpisode[],
  environment: string,
  call: SandboxClient['call'],
  chosen?: ChosenNames,
): Promise<Tried> {
  const columns = await Promise.all(
    funcs.map(async (func): Promise<Tried['columns'][number]> => {
      const own = all.filter(({ view }) => isFor(func, view.environment, chosen))
      if (own.length === 0) return { rewards: all.map(() => null), error: null, metrics: {}, logs: [] }
      const { rewards, ...told } = await tried(func, own, environment, call)
      return { ...told, rewards: amongAll(all, own, rewards) }
    }),
  )
  return { names: rewardNames(funcs, environment, Object.keys(chosen ?? {})), columns, sums: weightedRewards(columns.map(({ rewards }) => rewards), weights ?? funcs.map(() => 1)) }
}

async function tried(func: RewardFunc, episodes: readonly TriedEpisode[], environment: string, call: SandboxClient['call']): Promise<Tried['columns'][number]> {
  const args = argumentsOf(episodes, environment)
  try {
    if (func.name === 'custom') return { ...(await call(func, args)), error: null }
    const rewards = func.name === 'environment' ? episodes.map(({ view }) => environmentReward(view, func.take)) : (await builtinReward(func))(args)
    const error = NEEDS_SOLUTION.includes(func.name) && !('solution' in args) ? `${func.name} needs the column solution, and these episodes have none.` : null
    return { rewards, error, metrics: {}, logs: [] }
  } catch (error) {
    return { rewards: episodes.map(() => null), error: errorText(error), metrics: {}, logs: [] }
  }
}

function environmentReward({ parts, reward, answers, rewardless }: EpisodeView, take: EnvironmentTake): number | null {
  if (rewardless) return null
  if (take === 'rubric_reward') return answers.findLast(({ rubric }) => rubric !== undefined)?.rubric ?? null
  const given = answers.flatMap((answer) => (answer.reward === null ? [] : [answer.reward]))
  // Of a run with several functions the episode's reward is their sum; the environment's own stands in its part.
  if (take === 'own' || given.length === 0) return parts ? (Object.values(parts)[0] ?? null) : reward
  if (take === 'last') return given.at(-1) ?? null
  return take === 'max' ? Math.max(...given) : given.reduce((sum, each) => sum + each, 0)
}
