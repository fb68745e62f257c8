/** The shares of a step in words. */

import { S } from '../../ui/strings'
import { bottleneckOf, type Scheduler, type Shares } from './shares'

const T = S.timeline

/** What the lists of shares name, in this order. */
export const SHARED = ['sampling', 'prefill', 'waiting', 'training', 'idle'] as const

/** Share of training from which on it is worth being done while the environment is waited for. */
const WORTH_HIDING = 0.05

/** One sentence on what the step spends its time on. */
export function sentenceOf(shares: Shares, scheduler: Scheduler): string {
  const bottleneck = bottleneckOf(shares, scheduler)
  const { kind, share } = bottleneck
  if (kind === 'environment') return T.bottleneck.environment(share, bottleneck.limit, { sessions: scheduler.sessions ?? 0, slots: shares.slots, trains: shares.training >= WORTH_HIDING && !scheduler.ahead })
  if (kind === 'training') return T.bottleneck.training(share, shares.iterations, bottleneck.hidden, shares.updates)
  return T.bottleneck[kind](share)
}

/** 'sampling 61 %, waiting 20 %'; what there was none of is left out. */
export function inWords(shares: Shares): string {
  return SHARED.flatMap((kind) => (shares[kind] >= 0.005 ? `${T.kinds[kind]} ${T.share(shares[kind])}` : [])).join(', ')
}
