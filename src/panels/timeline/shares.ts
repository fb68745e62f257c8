/** What the time of a step went into, as shares of it, and what that says about the scheduler. */

import { TRAINER, type TimelineSpan } from '../../core/timeline'

/** Shares of the step's time, 0…1; of what slots do, averaged over the slots. The first five add up to 1: while the trainer computes, all else counts as training. */
export interface Shares {
  sampling: number
  prefill: number
  waiting: number
  training: number
  /** Part of it: slots waited for the environment meanwhile. */
  hidden: number
  /** A slot that did nothing while the trainer did nothing either. */
  idle: number
  /** Part of idle: the slot's last episode had ended, others went on. */
  ended: number
  /** Nothing was computed because every slot that had an episode waited for the environment. */
  stalled: number
  /** Part of it: before anything was computed, while the first episodes are opened and reset. */
  opening: number
  /** Number of slots, and of optimizer steps. */
  slots: number
  iterations: number
  /** Steps whose update is in view: two at the end of a run that sampled ahead. */
  updates: number
}

const length = ({ start, end }: { start: number; end: number }) => end - start
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/** Of the first `total` ms of a step; null where there is nothing to share. */
export function sharesOf(spans: readonly TimelineSpan[], total: number): Shares | null {
  const inSlots = spans.filter(({ lane }) => lane !== TRAINER)
  const slots = Math.max(0, ...inSlots.map(({ lane }) => lane + 1))
  if (slots === 0 || total <= 0) return null
  const trainer = spans.filter(({ lane }) => lane === TRAINER)
  const training = sum(trainer.map(length)) / total
  const beside = (span: TimelineSpan) => sum(trainer.map(({ start, end }) => Math.max(0, Math.min(end, span.end) - Math.max(start, span.start))))
  const ofKind = (kind: TimelineSpan['kind']) => inSlots.filter((span) => span.kind === kind)
  const share = (kind: TimelineSpan['kind']) => sum(ofKind(kind).map((span) => length(span) - beside(span))) / (slots * total)
  const [sampling, prefill, waiting] = [share('sampling'), share('prefill'), share('waiting')]
  const computing = spans.filter(({ kind }) => kind !== 'waiting')
  const first = Math.min(total, ...computing.map(({ start }) => start))
  const lastEnds = Array.from({ length: slots }, () => 0)
  for (const { lane, end } of inSlots) lastEnds[lane] = Math.max(lastEnds[lane] ?? 0, end)
  const sampled = Math.max(...lastEnds)
  return {
    sampling,
    prefill,
    waiting,
    training,
    hidden: sum(ofKind('waiting').map(beside)) / (slots * total),
    idle: Math.max(0, 1 - sampling - prefill - waiting - training),
    ended: sum(lastEnds.map((end) => sampled - end)) / (slots * total),
    stalled: (covered(spans) - covered(computing)) / total,
    opening: covered(inSlots.flatMap((span) => (span.start < first ? [{ ...span, end: Math.min(span.end, first) }] : []))) / total,
    slots,
    iterations: Math.max(0, ...trainer.map(({ turn }) => turn + 1)),
    updates: new Set(trainer.map(({ step }) => step)).size,
  }
}

/** How much of the time at least one of the spans covers, ms. */
export function covered(spans: readonly TimelineSpan[]): number {
  let [all, until] = [0, 0]
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (end <= until) continue
    all += end - Math.max(start, until)
    until = end
  }
  return all
}

export type Bottleneck =
  /** Nothing was computed while the environment was waited for. `limit`: what keeps other episodes from writing meanwhile. */
  | { kind: 'environment'; share: number; limit: 'sessions' | 'opening' | 'episodes' | 'slots' }
  /** `hidden`: while slots waited. */
  | { kind: 'training'; share: number; hidden: number }
  | { kind: 'ended' | 'prefill' | 'waiting' | 'sampling'; share: number }

/** From these shares on a thing is worth naming. */
const STALLED = 0.15
const MOST = 0.5
const ENDED = 0.25
const WAITING = 0.2

export interface Scheduler {
  episodes: number
  /** How many the server allows at once, null for any number. */
  sessions: number | null
  /** As many slots as there can be, however many episodes a step has. */
  mostSlots: number
  /** The step before is trained on while a step is sampled. */
  ahead?: boolean
}

/** What to look at first. */
export function bottleneckOf(shares: Shares, { episodes, sessions, mostSlots }: Scheduler): Bottleneck {
  const { slots, stalled, opening, training, hidden, ended, prefill, waiting, sampling } = shares
  if (stalled >= STALLED) {
    const crowded = sessions !== null && sessions < Math.min(slots, episodes)
    const limit = crowded ? 'sessions' : opening > stalled / 2 ? 'opening' : slots >= mostSlots ? 'slots' : 'episodes'
    return { kind: 'environment', share: stalled, limit }
  }
  if (training >= MOST) return { kind: 'training', share: training, hidden }
  if (ended >= ENDED) return { kind: 'ended', share: ended }
  if (prefill > sampling && prefill > waiting && prefill > training) return { kind: 'prefill', share: prefill }
  if (waiting >= WAITING) return { kind: 'waiting', share: waiting }
  return training > sampling ? { kind: 'training', share: training, hidden } : { kind: 'sampling', share: sampling }
}
