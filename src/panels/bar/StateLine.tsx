/** The one sentence of what is going on; a calmer copy of it speaks to screen readers. */

import { useEffect, useRef, useState } from 'react'
import { specName } from '../../core/environment-spec'
import type { LoadProgress } from '../../core/events'
import { isFresh } from '../../store/controller'
import { useModels, useReplay, useRun, useSetup } from '../../store/hooks'
import { needsLoad, shortName } from '../../store/model-settings'
import { isDistrusted } from '../../store/model-store'
import { planRefusal } from '../../store/plan-state'
import { getSetting, writeSetting } from '../../store/settings'
import { hasChanges, onlyEndDiffers, type SetupView } from '../../store/setup-store'
import { laterEnd } from '../../store/transport'
import { isActive, isMeasuring, latestStep } from '../../store/view'
import { DURATIONS } from '../../ui/durations'
import { describeAbsence, describeCompared, describeRun, phaseOf } from '../../ui/sentence'
import { S } from '../../ui/strings'
import { useSettled } from '../notices/useSettled'
import { useCompared } from '../runs/useCompared'
import { CutText } from './CutText'

export function StateLine() {
  const view = useRun((v) => v)
  const settled = useSettled()
  const idle = settled || (view.run.state === 'ready' && isFresh(view))
  const linked = useSetup((setup) => waitingFor(setup, idle))
  const distrusted = useModels((models) => isDistrusted(view.engine, models))
  const recording = view.recording !== null && !isActive(view.run) && view.run.state !== 'loading' ? (view.behind ? S.runs.recording.shortRun : S.runs.recording.short) : null
  const rests = view.run.state === 'ready' || view.run.state === 'paused' || view.run.state === 'finished'
  const plan = useSetup((setup) => planRefusal(setup, view)?.place ?? null)
  const waits = linked ?? (idle && distrusted ? S.model.test.state : plan !== null && rests ? S.controls.planWaits(plan) : recording)
  const { queue, away } = view.waits
  const asked = latestStep(view)?.episodes.some((e) => e.waitingSince !== null) ?? false
  const waiting = view.run.state === 'running' && (asked || queue !== null || away !== null)
  const now = useClock(waiting)
  const replay = useReplay(({ state }) => state === 'on')
  const absence = useAbsence(view.history.at(-1)?.step ?? 0)
  const compared = useCompared().map(({ name }) => name)
  const pressed = useSetup((setup) => setup.pressed) && (view.run.state === 'loading' || isMeasuring(view))
  // The settings that were changed may be out of sight, and so may the sentence about them.
  const changed = useSetup(needsReset) && !isFresh(view)
  // What is to be done needs the room that a comparison would take.
  const beside = [pressed ? S.controls.thenTrains : null, absence > 0 && isActive(view.run) ? describeAbsence(absence) : null, rests && !changed ? describeCompared(compared) : null]
  const later = useSetup((setup) => laterEnd(setup, view.run))
  const turnedDown = useSetup((setup) => setup.turnedDown && specName(setup.turnedDown))
  const said = waits ?? [describeRun(view, now, { later, turnedDown }), ...beside.filter((part) => part !== null)].join(' · ')
  // Beside the badge of a recording there is room for few words.
  const loads = waits === null && view.run.state === 'loading' && view.run.total !== null
  const sentence = !replay || loads ? said : waits === null && view.run.state === 'ready' ? S.replay.ready : `${S.replay.name} · ${said}`
  const { run } = view
  const refused = useSetup(({ refused: [key], config }) => (key === undefined ? null : S.bar.refused(key, writeSetting(getSetting(config, key)))))
  return (
    <div className="state">
      <CutText all={[refused, changed ? S.bar.changed : null, sentence].filter((part) => part !== null).join(' · ')}>
        {refused !== null && (
          <span className="state-refused" id="train-refused" data-testid="state-refused">
            {refused}
          </span>
        )}
        {changed && (
          <span className="state-changed" data-testid="state-changed">
            {S.bar.changed}
          </span>
        )}
        <span className={`state-line state-${settled ? 'ready' : run.state}`} data-testid="state-line" data-state={run.state}>
          {sentence}
        </span>
      </CutText>
      {run.state === 'loading' && waits === null && <LoadBar label={sentence} run={run} />}
      <p className="sr-only" role="status" aria-live="polite">
        {useCalm(sentence, waits ?? phaseOf(view))}
      </p>
    </div>
  )
}

/** Whether only Reset takes the changed controls over. */
function needsReset(setup: SetupView): boolean {
  return hasChanges(setup) && !onlyEndDiffers(setup) && !needsLoad(setup) && !setup.awaitsConsent
}

/** What the page waits for, if anything: neither a linked server nor a model of the Hub is loaded before a person's word. */
function waitingFor(setup: SetupView, idle: boolean): string | null {
  const { config, applied, awaitsConsent } = setup
  if (awaitsConsent) return config.environment.kind === 'openenv' && !config.rollout_func ? S.task.consentShort : S.task.consentAllow
  if (!needsLoad(setup)) return null
  if (applied === null) return S.model.consentShort
  return idle ? S.model.chosen(shortName(config.model)) : null
}

/** Steps that were finished while the page was hidden, for a while after it is seen again. */
function useAbsence(step: number): number {
  const latest = useRef(step)
  latest.current = step
  const [absence, setAbsence] = useState(0)
  useEffect(() => {
    let left = latest.current
    let timer = 0
    const change = () => {
      clearTimeout(timer)
      setAbsence(0)
      if (document.visibilityState === 'hidden') left = latest.current
      // What came meanwhile is taken in with the first frames.
      else timer = window.setTimeout(() => {
        setAbsence(Math.max(0, latest.current - left))
        timer = window.setTimeout(() => setAbsence(0), DURATIONS.absence)
      }, DURATIONS.waitingTick)
    }
    document.addEventListener('visibilitychange', change)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', change)
    }
  }, [])
  return absence
}

/** All files together where they are counted, else the one that comes. */
function LoadBar({ label, run }: { label: string; run: LoadProgress }) {
  const { done, total } = run.overall ?? run
  return <progress aria-label={label} max={total ?? 1} value={total === null ? undefined : done} />
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
