/** The one sentence of what is going on; a calmer copy of it speaks to screen readers. */

import { useEffect, useRef, useState } from 'react'
import { useRun, useSetup } from '../../store/hooks'
import { latestStep } from '../../store/view'
import { DURATIONS } from '../../ui/durations'
import { describeRun, phaseOf } from '../../ui/sentence'
import { S } from '../../ui/strings'

export function StateLine() {
  const view = useRun((v) => v)
  const linked = useSetup((s) => (s.awaitsConsent && s.config.environment.kind === 'openenv' ? s.config.environment.url : null))
  const waiting = view.run.state === 'running' && (latestStep(view)?.episodes.some((e) => e.waitingSince !== null) ?? false)
  const now = useClock(waiting)
  const sentence = linked !== null ? S.task.consentShort : describeRun(view, now)
  const { run } = view
  return (
    <div className="state">
      <p className={`state-line state-${run.state}`} data-testid="state-line" data-state={run.state} title={sentence}>
        {sentence}
      </p>
      {run.state === 'loading' && linked === null && (
        <progress aria-label={sentence} max={run.total ?? 1} value={run.total === null ? undefined : run.done} />
      )}
      <p className="sr-only" role="status" aria-live="polite">
        {useCalm(sentence, linked ?? phaseOf(view))}
      </p>
    </div>
  )
}

/** A reading of the clock; it ticks only while something is timed. */
function useClock(running: boolean): number {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    if (!running) return
    setNow(performance.now())
    const timer = setInterval(() => setNow(performance.now()), DURATIONS.waitingTick)
    return () => clearInterval(timer)
  }, [running])
  return now
}

/** The text, renewed when the phase changes or after a while, never at every token. */
function useCalm(text: string, phase: string): string {
  const shown = useRef({ text, phase, at: 0 })
  const now = performance.now()
  const { current } = shown
  // Within a training run "sampling" and "training" alternate faster than speech; only a rest between them is announced.
  const calm = now - current.at < DURATIONS.announce
  const sameState = current.phase.split(' ')[0] === phase.split(' ')[0]
  if (!(calm && sameState) && current.text !== text) shown.current = { text, phase, at: now }
  return shown.current.text
}
