/** Waits until a Space runs: wakes one that sleeps, looks politely, counts aloud, and gives up with a sentence for each stage. */

import { PlaygroundError } from '../../core/errors'
import { isPassing, notShown, type SpaceInfo, type SpacesApi } from './spaces-api'

export interface StageOptions {
  api: Pick<SpacesApi, 'info' | 'hasToken'>
  /** One plain request to the Space, which wakes it. */
  wake: () => void
  sleep: (ms: number) => Promise<void>
  signal: AbortSignal
  random: () => number
  onDetail: (detail: string) => void
}

interface Waiting {
  /** What the Space does, after "Space owner/name". */
  doing: string
  /** Longest wait in this stage, seconds. */
  limit: number
  advice: string
}

const MINUTE = 60
const ASLEEP: Waiting = { doing: 'is asleep and being woken', limit: 90, advice: 'Open its page on the Hub, see whether it starts there, and connect again.' }
const STARTING: Waiting = { doing: 'is starting', limit: 5 * MINUTE, advice: 'Its log on the Hub tells what it waits for; connect again when it says Running.' }
const BUILDING: Waiting = { doing: 'is being built', limit: 15 * MINUTE, advice: 'Its build log is on its page on the Hub; connect again when it says Running.' }
const WAITING: Record<string, Waiting> = { SLEEPING: ASLEEP, STOPPED: ASLEEP, APP_STARTING: STARTING, BUILDING }

/** Longest wait over all stages: a Space may fall asleep again while it starts, and go round for hours. */
const TOTAL = 30 * MINUTE

const OWNER = 'Only its owner can change that: open its page on the Hub, or duplicate the Space.'
const FAILED: Record<string, { why: string; advice: string }> = {
  PAUSED: { why: 'is paused', advice: 'Only its owner can start it again: press Restart on its page on the Hub, or duplicate the Space.' },
  NO_APP_FILE: { why: 'has no app in it', advice: OWNER },
  CONFIG_ERROR: { why: 'has an error in its configuration', advice: OWNER },
  BUILD_ERROR: { why: 'could not be built', advice: OWNER },
  RUNTIME_ERROR: { why: 'crashed', advice: 'Its owner can restart it on its page on the Hub; its log is there too. Or duplicate the Space.' },
  DELETING: { why: 'is being deleted', advice: 'Choose another Space.' },
}

/** Whether a Space of this stage answers; one that is rebuilt goes on with its old build. */
export const isRunning = (stage: string | null): boolean => stage?.startsWith('RUNNING') ?? false

/** Seconds between two looks: 2, 3, 4.5, … up to 10. */
const pauseAfter = (looks: number, random: number): number => Math.min(10, 2 * 1.5 ** looks) * (0.9 + random / 5)
/** A wake-up call that got lost is repeated after so many seconds. */
const WAKE_AGAIN = 30

const duration = (seconds: number): string => {
  const whole = Math.round(seconds)
  if (whole < 2 * MINUTE) return `${whole} s`
  return `${Math.floor(whole / MINUTE)} min${whole % MINUTE === 0 ? '' : ` ${whole % MINUTE} s`}`
}

/**
 * Resolves when the Space runs; the value tells whether it had to be waited for. `first` is what the Hub said just now.
 * Throws PlaygroundError('environment') for a stage that ends in nothing and after the time-out of the stage, 'stopped' once given up.
 */
export async function awaitRunning(first: SpaceInfo, options: StageOptions): Promise<{ waited: boolean }> {
  const { api, wake, sleep, signal, random, onDetail } = options
  const { id } = first
  let info = first
  let inStage = 0
  let inAll = 0
  let sinceWake = Infinity
  for (let looks = 0; ; looks++) {
    const { stage } = info
    // Not told: the connection will show it.
    if (stage === null || isRunning(stage)) return { waited: looks > 0 }
    const waiting = WAITING[stage]
    if (!waiting) throw refusal(info, stage)
    if (waiting === ASLEEP && sinceWake >= WAKE_AGAIN) {
      wake()
      sinceWake = 0
    }
    const pause = Math.ceil(pauseAfter(looks, random()))
    for (let left = pause; left > 0; left--) {
      if (signal.aborted) throw new PlaygroundError('stopped', `The waiting for the Space ${id} was stopped.`)
      if (inStage >= waiting.limit) {
        throw new PlaygroundError('environment', `The Space ${id} ${waiting.doing} for ${duration(waiting.limit)} now, and the page stopped waiting.`, waiting.advice)
      }
      if (inAll >= TOTAL) {
        const advice = 'It starts again and again: its log on the Hub may tell why. Connect again when it says Running.'
        throw new PlaygroundError('environment', `The Space ${id} was waited for ${duration(TOTAL)} and still does not run (${stage}).`, advice)
      }
      onDetail(`Space ${id} ${waiting.doing} · ${duration(inStage)} of at most ${duration(waiting.limit)} · next look in ${left} s`)
      await sleep(1000)
      inStage++
      inAll++
      sinceWake++
    }
    const answer = await api.info(id, 1)
    if (!answer.ok && !isPassing(answer.status)) throw notShown(id, answer, api.hasToken)
    // A Hub that does not answer for a moment says nothing about the Space.
    if (!answer.ok) continue
    if (WAITING[answer.value.stage ?? ''] !== waiting) inStage = 0
    info = answer.value
  }
}

function refusal({ id, problem }: SpaceInfo, stage: string): PlaygroundError {
  const known = FAILED[stage]
  const said = problem === '' ? '' : `: ${problem.replace(/\.$/, '')}`
  if (known) return new PlaygroundError('environment', `The Space ${id} ${known.why} (${stage})${said}.`, known.advice)
  return new PlaygroundError('environment', `The Space ${id} is in a stage that this page does not know (${stage})${said}.`, 'Look at its page on the Hub.')
}
