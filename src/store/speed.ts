/** How fast what is watched goes by: one choice for the recorded run and for a live one, in tokens a second of every episode. */

import type { StoreApi } from 'zustand/vanilla'
import { DURATIONS } from '../ui/durations'
import type { EnginePort } from './controller'
import type { Display } from './display'

/** The levels of `display.speed`. 1: the recorded run at its own pace, a live run as fast as it goes. Above 1 only a recorded run is faster. */
export const SPEEDS = [0.125, 0.25, 0.5, 1, 2, 4] as const
export const LIVE_SPEEDS = SPEEDS.filter((speed) => speed <= 1)

/** Tokens a second of each episode of the recorded run. */
export function replayPace(speed: number): number {
  return (speed * 1000) / DURATIONS.replay.token
}

/** Most tokens a second of each slot of a live run; null: as fast as it goes. */
export function livePace(speed: number): number | null {
  return speed < 1 ? replayPace(speed) : null
}

/** The level that stands for a speed, which a link may name freely. */
export function levelOf(speed: number, levels: readonly number[]): number {
  return levels.reduce((best, level) => (Math.abs(level - speed) < Math.abs(best - speed) ? level : best))
}

/** Tells the worker the pace, now and whenever it changes; it keeps it from run to run. */
export function followSpeed(display: StoreApi<Pick<Display, 'speed'>>, port: Pick<EnginePort, 'send'>): void {
  let told: number | null = null
  const tell = ({ speed }: Pick<Display, 'speed'>) => {
    const tokensPerSecond = livePace(speed)
    if (tokensPerSecond === told) return
    told = tokensPerSecond
    port.send({ type: 'pace', tokensPerSecond })
  }
  tell(display.getState())
  display.subscribe(tell)
}
