/**
 * Whether an environment honours seeds: resets many times with one seed and once with each of some others, in a session of its own each
 * time, as a rollout does. Few resets would not do: of three starts, the same one comes up twice in a row every third time.
 */

import type { Environment } from '../core/environment'
import type { SeedComparison } from './protocol'

/** Fields of every state that say which episode it is, not what it is. */
const OF_THE_EPISODE = ['episode_id', 'step_count']
/** Seeds of the resets, counted from the one that is tested: mixed, so that a server which takes its tasks in turn is found out. */
const ORDER = [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0]
/** The first resets that say anything: the seed twice, and another one. */
const LEAST = 3
/** No further reset is begun after this: a slow server is not kept for minutes. */
const BUDGET_MS = 30_000
/** Seeds are below this. */
const SEEDS = 2 ** 31
/** An environment that gave the seed its own start so much more often than other seeds did is not one that ignores it. */
const CLEARLY = 0.5

interface Start {
  seed: number
  text: string
  /** Text and scene, to compare. */
  whole: string
  /** null where the environment tells none. */
  state: Record<string, unknown> | null
}

/** Needs one free session at a time. Rejects when the environment does not answer to a reset. `now` in ms. */
export async function compareResets(environment: Environment, seed: number, now: () => number = () => performance.now()): Promise<SeedComparison> {
  const until = now() + BUDGET_MS
  const starts: Start[] = []
  for (const [n, offset] of ORDER.entries()) {
    if (n >= LEAST && now() > until) break
    starts.push(await start(environment, (seed + offset) % SEEDS, n + 1))
  }
  return verdictOf(starts, seed)
}

/** What the resets show; at least two with the seed and one with another. */
function verdictOf(starts: readonly Start[], seed: number): SeedComparison {
  const same = starts.filter((each) => each.seed === seed)
  const others = starts.filter((each) => each.seed !== seed)
  const [first, second, other] = [same[0], same[1], others[0]] as [Start, Start, Start]
  const unlike = (each: Start) => each.whole !== first.whole
  const observations: SeedComparison['observations'] = [first.text, (same.find(unlike) ?? second).text, (others.find(unlike) ?? other).text]
  const states = same.map(({ state }) => state)
  const stateDiffers = [...new Set(states.flatMap((state) => differences(states[0] ?? null, state)))]
  const counts = { resets: same.length, others: others.length, starts: new Set(same.map(({ whole }) => whole)).size }
  const common = { observations, stateDiffers, counts }
  if (!same.some(unlike)) {
    const alike = others.filter((each) => !unlike(each)).length
    if (alike === others.length) return { verdict: 'constant', chance: null, ...common }
    // Other seeds gave this start so often; drawn anew at each reset, it would have come up again and again. (One more of each: few were asked.)
    return { verdict: 'honoured', chance: ((alike + 1) / (others.length + 1)) ** (same.length - 1), ...common }
  }
  return { verdict: agreement(same, same) - agreement(same, others) >= CLEARLY ? 'mixed' : 'ignored', chance: null, ...common }
}

/** The part of the pairs, one of each list and never a reset with itself, that are alike. */
function agreement(a: readonly Start[], b: readonly Start[]): number {
  const pairs = a.flatMap((one) => b.filter((two) => two !== one).map((two) => one.whole === two.whole))
  return pairs.filter(Boolean).length / pairs.length
}

async function start(environment: Environment, seed: number, n: number): Promise<Start> {
  const session = await environment.open()
  try {
    const { text, scene } = await session.reset({ seed, episode_id: `compare-seed${seed}-reset${n}`, split: 'train' })
    // A server without a state is compared by what it says.
    const state = (await session.readState?.().catch(() => null)) ?? null
    return { seed, text, whole: JSON.stringify([text, scene ?? null]), state }
  } finally {
    await session.close()
  }
}

function differences(a: Start['state'], b: Start['state']): string[] {
  if (!a || !b) return []
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].filter((name) => !OF_THE_EPISODE.includes(name) && JSON.stringify(a[name]) !== JSON.stringify(b[name]))
}
