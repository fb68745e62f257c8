/** The timeline of the step that is looked at, and what is known of that step. */

import { useMemo } from 'react'
import { MOST_SLOTS } from '../../core/plan'
import type { StepSummary } from '../../core/run-record'
import type { TimelineSpan } from '../../core/timeline'
import { useReplay, useSelection, useShown, useShownGrpo } from '../../store/hooks'
import { findStep, type StepView } from '../../store/view'
import { S } from '../../ui/strings'
import { reachOf } from './geometry'
import { sentenceOf } from './sentence'
import { type Shares, sharesOf } from './shares'

const NONE: readonly TimelineSpan[] = []

export function useTimeline() {
  const selected = useSelection((s) => s.step)
  const step = useShown((view) => findStep(view, selected)?.step ?? null)
  const spans = useShown((view) => findStep(view, selected)?.timeline) ?? NONE
  const finished = useShown((view) => findStep(view, selected)?.finished ?? false)
  const seconds = useShown((view) => view.history.find((s) => s.step === step)?.seconds)
  const measured = useShown((view) => view.history.findLast((s) => step !== null && s.step <= step))
  const before = useShown((view) => view.history.findLast((s) => step !== null && s.step < step)?.seconds)
  const groupSize = useShown((view) => groupSizeOf(findStep(view, selected)))
  const ahead = useShownGrpo().max_staleness > 0
  const recorded = useReplay(({ state }) => state === 'on')

  const end = useMemo(() => Math.max(0, ...spans.map((span) => span.end)), [spans])
  const whole = finished && seconds ? wholeOf(end, seconds, ahead) : end
  const shares = useMemo(() => sharesOf(spans, whole), [spans, whole])
  const sentence = useSentence({ step, finished, shares, ahead })
  return {
    step,
    /** A step that is no longer kept was chosen. */
    gone: step === null ? selected : null,
    spans,
    shares,
    sentence,
    finished,
    recorded,
    groupSize,
    /** The step, or the last one before it whose numbers are there. */
    measured,
    /** Ms that the step took so far, and that the picture is wide. */
    took: whole,
    total: finished ? whole : reachOf(whole, before ? inMs(before) : 0),
  }
}

/**
 * On what a step spends its time. The beginning of a step tells little of it: while one goes on the last whole step is spoken of, where it
 * is kept.
 */
function useSentence({ step, finished, shares, ahead }: { step: number | null; finished: boolean; shares: Shares | null; ahead: boolean }): string {
  const sessions = useShown((view) => view.environment?.maxSessions ?? null)
  const backend = useShown((view) => view.engine?.info.backend ?? 'wasm')
  const whole = useShown((view) => (finished ? undefined : view.steps.findLast((s) => s.finished && step !== null && s.step < step)))
  const seconds = useShown((view) => view.history.find((s) => s.step === whole?.step)?.seconds)
  const episodes = useShown((view) => view.steps.find((s) => s.step === step)?.episodeCount ?? 0)
  const before = useMemo(() => (whole?.timeline && seconds ? sharesOf(whole.timeline, wholeOf(Math.max(0, ...whole.timeline.map(({ end }) => end)), seconds, ahead)) : null), [whole?.timeline, seconds, ahead])
  const of = before ?? shares
  if (!of) return ''
  const sentence = sentenceOf(of, { episodes, sessions, mostSlots: MOST_SLOTS[backend], ahead })
  if (whole && before) return S.timeline.ofStep(whole.step, sentence)
  return finished ? sentence : S.timeline.soFar(sentence)
}

/** Ms that the lanes of a finished step are about. Sampled ahead, its own update stands in those of the next step, and the step's seconds are about both. */
const wholeOf = (end: number, seconds: StepSummary['seconds'], ahead: boolean) => (ahead ? end : Math.max(end, inMs(seconds)))

const groupSizeOf = (step: StepView | null) => (step ? Math.max(1, step.episodeCount / step.groupCount) : 1)

const inMs = ({ sampling, training }: StepSummary['seconds']) => (sampling + training) * 1000
