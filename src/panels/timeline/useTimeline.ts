/** The timeline of the step that is looked at, and what is known of that step. */

import { useMemo } from 'react'
import type { TimelineSpan } from '../../core/timeline'
import { useReplay, useSelection, useShown } from '../../store/hooks'
import { findStep } from '../../store/view'
import { reachOf } from './geometry'
import { bottleneckOf, sharesOf } from './shares'

const NONE: readonly TimelineSpan[] = []

export function useTimeline() {
  const selected = useSelection((s) => s.step)
  const step = useShown((view) => findStep(view, selected)?.step ?? null)
  const spans = useShown((view) => findStep(view, selected)?.timeline) ?? NONE
  const episodes = useShown((view) => findStep(view, selected)?.episodeCount ?? 0)
  const finished = useShown((view) => findStep(view, selected)?.finished ?? false)
  const sessions = useShown((view) => view.environment?.maxSessions ?? null)
  const seconds = useShown((view) => view.history.find((s) => s.step === step)?.seconds)
  const measured = useShown((view) => view.history.findLast((s) => step !== null && s.step <= step))
  const before = useShown((view) => view.history.findLast((s) => step !== null && s.step < step)?.seconds)
  const recorded = useReplay(({ state }) => state === 'on')

  const end = useMemo(() => Math.max(0, ...spans.map((span) => span.end)), [spans])
  const whole = finished && seconds ? Math.max(end, inMs(seconds)) : end
  const shares = useMemo(() => sharesOf(spans, whole), [spans, whole])
  const bottleneck = useMemo(() => shares && bottleneckOf(shares, { episodes, sessions }), [shares, episodes, sessions])
  return {
    step,
    /** A step that is no longer kept was chosen. */
    gone: step === null ? selected : null,
    spans,
    shares,
    bottleneck,
    sessions,
    finished,
    recorded,
    /** The step, or the last one before it whose numbers are there. */
    measured,
    /** Ms that the step took so far, and that the picture is wide. */
    took: whole,
    total: finished ? whole : reachOf(whole, before ? inMs(before) : 0),
  }
}

const inMs = ({ sampling, training }: { sampling: number; training: number }) => (sampling + training) * 1000
