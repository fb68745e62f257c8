/** What an episode of ten turns asks the model to read, over its tokens, against reading everything again at every turn. Counted, not timed. */

import { rollout } from '../../../src/rollout/rollout'
import type { SamplerCall } from '../../../src/rollout/testing/fake-sampler'
import { prepare, say } from '../../../src/rollout/testing/setup'
import type { BenchRow } from '../../tools/bench-rows'
import { judged } from '../_pairs'

const TURNS = 10

/** Tokens that a model takes in for an episode. */
export interface TurnWork {
  /** Of the finished episode. */
  tokens: number
  /** Read, by prefill, and written, one at a time. */
  prefilled: number
  decoded: number
  /** Read when every turn begins with the whole context so far. */
  prefilledAgain: number
}

/** One episode of ten turns: nine calls of a tool and a last word, by the rollout that trains. */
export async function turnWork(): Promise<TurnWork> {
  const { request, sampler } = prepare({
    reply: (turn) => (turn < TURNS - 1 ? say(`word number ${turn}`) : 'That is all.'),
    environment: { reset: () => 'Say ten words, one after the other.', step: (_, n) => ({ text: `Heard word ${n}: go on.` }) },
    slots: 8,
    request: { num_generations: 1 },
    config: { max_completion_length: 2000, max_tool_calling_iterations: TURNS },
  })
  const [episode] = await rollout(request)
  if (episode?.turns.length !== TURNS) throw new Error(`The episode has ${episode?.turns.length ?? 0} turns, not ${TURNS}.`)
  const read = (kind: SamplerCall['kind']): number => sampler.calls.filter((call) => call.kind === kind).reduce((sum, { tokens }) => sum + tokens, 0)
  const firsts = episode.mask.flatMap((mine, t) => (mine === 1 && episode.mask[t - 1] !== 1 ? [t] : []))
  if (firsts.length !== TURNS) throw new Error(`The model wrote ${firsts.length} pieces in ${TURNS} turns.`)
  return { tokens: episode.ids.length, prefilled: read('prefill'), decoded: read('decode'), prefilledAgain: firsts.reduce((sum, t) => sum + t, 0) }
}

export async function turnsRows(): Promise<BenchRow[]> {
  const { tokens, prefilled, decoded, prefilledAgain } = await turnWork()
  const share = (read: number): number => Number((read / tokens).toFixed(3))
  const again = { peer: 're-prefill every turn', peerValue: share(prefilledAgain), ratio: Number((prefilled / prefilledAgain).toFixed(3)) }
  return [
    { bench: 'peers', row: 'turns/prefilled', value: share(prefilled), unit: 'of the episode’s tokens', ...again, ...judged(prefilled / tokens, { most: 1.05 }) },
    {
      bench: 'peers',
      row: 'turns/prefilled and decoded',
      value: share(prefilled + decoded),
      unit: 'of the episode’s tokens',
      peer: 're-prefill every turn',
      peerValue: share(prefilledAgain + decoded),
      ratio: Number(((prefilled + decoded) / (prefilledAgain + decoded)).toFixed(3)),
      ...judged((prefilled + decoded) / tokens, { most: 1.05 }),
      note: `${TURNS} turns, ${tokens} tokens`,
    },
  ]
}
