/** The one sentence of state beside the buttons. */

import type { LoadProgress } from '../core/events'
import { stageLine } from '../core/stage'
import { isActive, latestStep, trainedBeside, type PlanView, type RunView, type StepView } from '../store/view'
import type { RunState } from '../worker/protocol'
import { DURATIONS } from './durations'
import { bytes, duration, roughTime, speed, timeLeft } from './format'

/** What the settings tell beside the run. */
export interface Beside {
  /** The step to which Resume goes on from a run that has ended. */
  later?: number | null
  /** The environment that could not be taken, while the run before it stands. */
  turnedDown?: string | null
}

/** What the page is doing, as one sentence; `now` in ms on the clock of the store. */
export function describeRun(view: RunView, now: number, { later = null, turnedDown = null }: Beside = {}): string {
  const { run } = view
  if (view.evaluation && view.evaluation.step === undefined && !isActive(run)) {
    const { split, done, total } = view.evaluation
    return `Evaluating · ${split === 'train' ? 'training scenarios' : 'held-out scenarios'} · ${done}/${total}`
  }
  switch (run.state) {
    case 'loading':
      return describeLoading(run)
    case 'load-paused':
      if (run.what === 'environment') return 'Stopped waiting for the environment · press Reset to connect again'
      return `Download paused · ${bytes(run.done)}${run.total === null ? '' : ` of ${bytes(run.total)}`} here`
    case 'ready':
      return 'Ready · press Train, or Step to go on a little'
    case 'running':
      return describeProgress(view, now)
    case 'pausing':
      return `${describeProgress(view, now)} · pausing`
    case 'paused':
      return describePause(view, run)
    case 'finished':
      if (later !== null) return `Step ${run.step} is done · Resume goes on to step ${later}`
      return run.reason === 'step-limit'
        ? `Finished · max_steps reached at step ${run.step}`
        : `Finished · target_reward reached at step ${run.step}`
    case 'failed':
      return describeFailure(run, view, turnedDown)
  }
}

/** What is being loaded, how far it is, and for a download its speed and the time left. */
export function describeLoading({ what, done, total, overall, detail }: LoadProgress): string {
  if (detail !== undefined) return detail
  if (what === '' || what === 'engine') return 'Starting the engine'
  if (what === 'environment') return 'Connecting to the environment'
  if (what === 'self-test') return 'Self-test: WebGPU against WASM on a slice of the model'
  if (overall) return describeTransfer(what, overall)
  if (total !== null) return `Loading ${what} · ${bytes(done)} of ${bytes(total)}`
  return done > 0 ? `Loading ${what} · ${bytes(done)}` : `Loading ${what}`
}

type Overall = NonNullable<LoadProgress['overall']>

function describeTransfer(what: string, overall: Overall): string {
  const { done, total, fromDisk } = overall
  return [`${fromDisk ? 'Reading' : 'Downloading'} ${what}`, `${bytes(done)} of ${bytes(total)}`, ...describePace(overall)].join(' · ')
}

/** Speed and time left, as far as they are known. */
export function describePace({ bytesPerSecond, secondsLeft }: Overall): string[] {
  return [...(bytesPerSecond === null ? [] : [speed(bytesPerSecond)]), ...(secondsLeft === null ? [] : [timeLeft(secondsLeft)])]
}

/** What kind of failure it was, and what is left; why and what to do stand below the bar. */
function describeFailure({ kind, recoverable }: Extract<RunState, { state: 'failed' }>, { history }: RunView, turnedDown: string | null): string {
  const step = history.at(-1)?.step
  const kept = !recoverable ? [] : [step === undefined ? 'nothing was trained yet' : `the adapter is kept as it was after step ${step}`]
  switch (kind) {
    case 'device-lost':
      return ['Stopped · the GPU was lost', ...kept].join(' · ')
    case 'memory':
      return ['Stopped · not enough memory', ...kept].join(' · ')
    case 'environment':
      return [`Stopped · ${turnedDown ?? 'the environment'} cannot be used`, ...kept].join(' · ')
    case 'non-finite':
      return ['Stopped · a number was not finite', ...kept].join(' · ')
    default:
      return 'Stopped by an error'
  }
}

const RESTS = { token: 'Paused at a token', episode: 'Paused at the end of an episode' } as const

/** A run that evaluates itself between its steps; null while it does not. */
function describeOwnEvaluation({ evaluation }: RunView): string | null {
  if (evaluation?.step === undefined) return null
  const { split, done, total, step } = evaluation
  const when = step === 0 ? 'before the first step' : `after step ${step}`
  return `Evaluating ${total} ${split === 'heldout' ? 'held-out ' : ''}${total === 1 ? 'episode' : 'episodes'} ${when} · ${done}/${total}`
}

const DOING = { before: 'measuring the policy before it', rows: 'playing its rows', training: 'training', after: 'measuring the policy after it' } as const

/** The stage of the run's own plan that is being made; GRPO is its last. */
function describePlan({ kind, at, stages, doing, done, of }: PlanView): string {
  return `Stage ${at + 1} of ${stages + 1} · ${kind.toUpperCase()} · ${DOING[doing]} ${done}/${of}`
}

function describePause(view: RunView, { at }: Extract<RunState, { state: 'paused' }>): string {
  const own = describeOwnEvaluation(view)
  if (own !== null) return `Paused · ${own.replace('E', 'e')}`
  const step = latestStep(view)
  if (view.plan) return `Paused · ${describePlan(view.plan).replace('S', 's')}`
  if (!step) return view.stages.length > 0 ? `Paused after ${stageLine(view.stages, 0) || 'the plan'}` : 'Paused before the first step'
  if (step.finished) return [`Paused after step ${step.step}`, ...describeOutcome(step)].join(' · ')
  // The update has no tokens: Step goes through it at once.
  if (step.groups && !step.training && !trainedBeside(view)) return `Paused before the update of step ${step.step} · the rewards are in`
  return `${at ? RESTS[at] : 'Paused'} · ${describeProgress(view, null)}`
}

/** What a finished step has that its reader should know: groups that taught nothing, episodes that did not count. */
function describeOutcome({ groups }: StepView): string[] {
  if (!groups) return []
  const silent = groups.filter((group) => !group.signal).length
  const unscorable = groups.reduce((sum, group) => sum + group.unscorable, 0)
  const parts = []
  if (silent > 0) parts.push(silent < groups.length ? `no signal in ${silent} of ${groups.length} groups` : groups.length === 1 ? 'no signal' : 'no signal in any group')
  if (unscorable > 0) parts.push(unscorable === 1 ? '1 episode unscorable' : `${unscorable} episodes unscorable`)
  return parts
}

/** Where in a run the view stands, whether it moves or is held, by no clock: for what is played again. */
export function describePlace(view: RunView): string {
  const asked = latestStep(view)?.episodes.some((e) => e.waitingSince !== null) ?? false
  return [describeProgress(view, null), ...(asked ? ['environment answers'] : [])].join(' · ')
}

/** `now` null leaves out what only makes sense while the clock runs. */
function describeProgress(view: RunView, now: number | null): string {
  const own = describeOwnEvaluation(view)
  if (own !== null) return own
  if (view.plan) return describePlan(view.plan)
  const step = latestStep(view)
  if (!step) return 'Starting'
  const name = `Step ${step.step}`
  if (step.finished) return [name, 'done', ...describeOutcome(step)].join(' · ')
  if (step.training) return `${name} · training ${step.training.done}/${step.training.total}`
  const before = trainedBeside(view)
  const beside = before?.training ? [`training step ${before.step} ${before.training.done}/${before.training.total}`] : []
  if (step.groups) return [name, ...(before ? ['sampled', ...beside] : ['training'])].join(' · ')
  return [name, ...describeAway(view, now), ...describeSampling(view, step, now), ...beside].join(' · ')
}

/** The environment that is waited for instead of sampled from; a pause stops the waiting, too. */
function describeAway({ waits: { away } }: RunView, now: number | null): string[] {
  if (!away) return []
  const again = away.until === null || now === null ? [] : [`tried again in ${roughTime((away.until - now) / 1000)}`]
  return [away.text, ...again]
}

function describeSampling(view: RunView, step: StepView, now: number | null): string[] {
  const { away, queue } = view.waits
  const finished = step.episodes.filter((e) => e.finished).length
  // Episodes that all failed are not scored: they are played again.
  if (finished === step.episodeCount) return away ? [] : ['scoring']
  const parts = [`sampling ${finished}/${step.episodeCount}`]
  const active = step.episodes.filter((e) => !e.finished)
  if (active.length > 0) parts.push(`turn ${Math.max(...active.map((e) => e.turn)) + 1}`)
  const waiting = active.flatMap((e) => (e.waitingSince === null ? [] : [e.waitingSince]))
  const waited = now === null || waiting.length === 0 ? 0 : now - Math.min(...waiting)
  if (waited >= DURATIONS.noticeableWait) parts.push(`waiting for the environment ${duration(waited)}`)
  if (queue) parts.push(describeQueue(queue, now))
  return parts
}

function describeQueue({ waiting, until }: NonNullable<RunView['waits']['queue']>, now: number | null): string {
  const who = waiting === 1 ? '1 episode waits' : `${waiting} episodes wait`
  const left = until === null || now === null ? '' : `, about ${roughTime((until - now) / 1000)}`
  return `${who} for a free session of the server${left}`
}

/** After the page was hidden: the run went on without being watched. */
export function describeAbsence(steps: number): string {
  return `${steps === 1 ? '1 step' : `${steps} steps`} while the tab was hidden`
}

/** Letters of a run's name that the bar has room for; the legend of the curves has longer ones. */
const LONGEST_COMPARED = 20

/** That other runs are drawn beside this one. */
export function describeCompared(names: readonly string[]): string | null {
  const [only, ...more] = names
  if (only === undefined) return null
  if (more.length > 0) return `compared with ${names.length} other runs`
  return only.length <= LONGEST_COMPARED ? `compared with ${only}` : 'compared with another run'

}

/** The part that changes with the phase only; a screen reader hears it when it changes. */
export function phaseOf(view: RunView): string {
  const step = latestStep(view)
  const own = isActive(view.run) && view.evaluation?.step !== undefined
  const inner = own ? 'evaluating' : view.plan && isActive(view.run) ? `stage-${view.plan.at}` : !isActive(view.run) || !step ? '' : step.finished ? 'done' : step.training || step.groups ? 'training' : 'sampling'
  return `${view.run.state} ${inner}`
}

/** The badge's parts: environment, model, backend and adapter. */
export function describeEngine(view: RunView): string | null {
  if (!view.engine) return null
  const { backend, device, threads } = view.engine.info
  return backend === 'wasm' ? `WASM × ${threads}` : `WebGPU · ${device}`
}
