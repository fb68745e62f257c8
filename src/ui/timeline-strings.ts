/** What the timeline of a step says. */

import type { SpanKind, TimelineSpan, TrainingPart } from '../core/timeline'
import { duration, number } from './format'

const KINDS: Record<SpanKind | 'idle', string> = { sampling: 'sampling', prefill: 'prefill', waiting: 'waiting', training: 'training', idle: 'idle' }

const HINTS: Record<SpanKind | 'idle', string> = {
  sampling: 'The slot writes, one token at a time with all others that write.',
  prefill: 'The slot reads a prompt or the answer of a tool.',
  waiting: 'The slot waits for the environment: its answer, its reset or a session.',
  training: 'The trainer computes; all slots rest, or wait for the environment (max_staleness 1).',
  idle: 'The slot has no episode, or waits while another one reads.',
}

const PARTS: Record<TrainingPart, string> = {
  reference: 'log-probs of the reference policy',
  gradient: 'forward and backward',
  score: 'log-probs of episodes with advantage 0',
  optimizer: 'AdamW',
}

/** Shares as whole percent: the eye cannot tell more. */
const whole = (share: number) => `${Math.round(share * 100)} %`

const LIMITS = {
  sessions: (sessions: number) =>
    `The server allows ${sessions === 1 ? 'one session' : `${sessions} sessions`} at once: with more, other episodes would be played meanwhile.`,
  opening: () => 'Most of it comes before the first token: the environment takes long to begin episodes.',
  episodes: () => 'A faster environment would shorten the step; more prompts_per_step would let other episodes write meanwhile.',
  slots: (_: number, slots: number) => `There are no more than ${slots} slots, so more prompts_per_step would not fill the time; a faster environment would.`,
}

export const TIMELINE_STRINGS = {
  title: 'Where the time goes',
  lead: 'A lane for each slot that plays an episode, and one for the trainer, over the seconds of the step.',
  kinds: KINDS,
  hints: HINTS,
  loading: 'The lanes appear when an episode is played.',
  none: 'The times of this step were not recorded.',
  gone: (step: number) => `The lanes of step ${step} are no longer kept; what it took is under Update.`,
  steps: 'Step',
  recorded: 'Recorded times; the replay runs at another pace.',
  live: 'As far as the step has come',
  table: 'Table',
  chart: 'Lanes',
  lane: 'lane',
  slot: (lane: number) => `slot ${lane + 1}`,
  slots: (count: number) => `slots 1–${count}`,
  trainer: 'trainer',
  seconds: (ms: number) => number(ms / 1000, 2),
  unit: 's',
  share: whole,
  time: (ms: number) => (ms < 10 ? `${number(ms, 2)} ms` : duration(ms)),
  hint: 'Hover a span, or focus the lanes and use the arrow keys. A click or Enter selects its episode everywhere.',
  /** What a span is, for the line below the lanes and for those who do not see them. Episodes are named as in the group's rows. */
  span: (span: TimelineSpan, groupSize: number): string => {
    const took = `${TIMELINE_STRINGS.time(span.end - span.start)} from ${TIMELINE_STRINGS.time(span.start)}`
    if (span.kind === 'training') {
      const part = span.part ? `: ${PARTS[span.part]}` : ''
      const of = span.step === undefined ? '' : ` of step ${span.step}`
      return `Trainer${part}${of} · ${span.turn > 0 ? `iteration ${span.turn + 1} · ` : ''}${took}`
    }
    const slot = `Slot ${span.lane + 1}`
    if (span.episode < 0) return `${slot} · waiting for the environment that failed · ${took}`
    const episode = `group ${Math.floor(span.episode / groupSize) + 1} · episode ${(span.episode % groupSize) + 1}`
    if (span.turn < 0) return `${slot} · ${episode} · waiting for its session or reset · ${took}`
    return `${slot} · ${episode} · turn ${span.turn + 1} · ${span.kind} · ${took}`
  },
  /** One sentence that names what the step spends its time on. */
  bottleneck: {
    environment: (share: number, limit: keyof typeof LIMITS, { sessions, slots, trains }: { sessions: number; slots: number; trains: boolean }) =>
      `Nothing is computed ${whole(share)} of the time, because every slot waits for the environment. ${LIMITS[limit](sessions, slots)}${trains ? ' max_staleness 1 would train meanwhile.' : ''}`,
    training: (share: number, iterations: number, hidden: number, updates: number) =>
      `The ${updates > 1 ? `${updates} updates in view take` : 'update takes'} ${whole(share)} of the step${hidden >= 0.05 ? `, ${whole(hidden)} of it while slots wait for the environment` : ''}. Shorter episodes${iterations > 1 ? ' or fewer num_iterations' : ''} would shorten it.`,
    ended: (share: number) =>
      `Slots rest ${whole(share)} of the time because their episodes have ended and the longest ones go on. A lower max_completion_length would cut these off.`,
    prefill: (share: number) => `Reading prompts and answers takes ${whole(share)} of the slots’ time. Shorter prompts or fewer tools would shorten it.`,
    waiting: (share: number) => `Slots wait for the environment ${whole(share)} of the time, but seldom all at once: others write meanwhile.`,
    sampling: (share: number) => `Slots write ${whole(share)} of the time: sampling is what the step takes longest for.`,
  },
  speed: { sampling: 'sampled', training: 'trained', unit: 'tokens/s' },
  measured: (name: string, step: number) => `${name} of step ${step}`,
  total: (ms: number) => `${duration(ms)} in all`,
  soFar: (sentence: string) => `So far: ${sentence}`,
  ofStep: (step: number, sentence: string) => `Step ${step}: ${sentence}`,
  summary: (sentence: string, shares: string) => `${sentence} ${shares}.`,
} as const
