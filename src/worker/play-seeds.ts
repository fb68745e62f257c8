/** Whether an environment honours seeds: resets twice with one seed and once with another, each in a session of its own as a rollout does. */

import type { Environment } from '../core/environment'
import type { SeedComparison } from './protocol'

/** Fields of every state that say which episode it is, not what it is. */
const OF_THE_EPISODE = ['episode_id', 'step_count']

interface Start {
  text: string
  /** Text and scene, to compare. */
  whole: string
  /** null where the environment tells none. */
  state: Record<string, unknown> | null
}

/** Needs one free session at a time. Rejects when the environment does not answer to a reset. */
export async function compareResets(environment: Environment, seed: number): Promise<SeedComparison> {
  const first = await start(environment, seed, 1)
  const second = await start(environment, seed, 2)
  const other = await start(environment, seed + 1, 3)
  const same = first.whole === second.whole
  return {
    verdict: !same ? 'ignored' : first.whole === other.whole ? 'constant' : 'honoured',
    observations: [first.text, second.text, other.text],
    stateDiffers: differences(first.state, second.state),
  }
}

async function start(environment: Environment, seed: number, n: number): Promise<Start> {
  const session = await environment.open()
  try {
    const { text, scene } = await session.reset({ seed, episode_id: `compare-seed${seed}-reset${n}`, split: 'train' })
    // A server without a state is compared by what it says.
    const state = (await session.readState?.().catch(() => null)) ?? null
    return { text, whole: JSON.stringify([text, scene ?? null]), state }
  } finally {
    await session.close()
  }
}

function differences(a: Start['state'], b: Start['state']): string[] {
  if (!a || !b) return []
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].filter((name) => !OF_THE_EPISODE.includes(name) && JSON.stringify(a[name]) !== JSON.stringify(b[name]))
}
