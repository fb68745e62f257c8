/**
 * Lane: the emergency of TRL's CARLA example as one line of text. Something stands on the road: stop while there is room,
 * else change to the free lane. The observation must be read, both numbers and the side.
 */

import type { ToolCall } from '../../core/tools'
import { environmentOf, tool, type GameRules } from './game'
import { joinSplits, pickBySeed, splitByHash, type Split, type SplitList } from './scenarios'

export type Side = 'left' | 'right'

export interface LaneScenario {
  what: string
  distance: number
  speed: number
  free: Side | 'none'
}

/** How it ended: stopped and passed are safe, the other four hit somebody. */
export type LaneOutcome =
  | 'stopped'
  | 'passed'
  | 'braked-too-late'
  /** The lane beside was taken. */
  | 'hit-beside'
  /** There was room to stop; the free lane did not stay free that long. */
  | 'hit-from-behind'
  | 'too-slow'

export interface LaneState {
  scenario: LaneScenario
  turn: number
  outcome: LaneOutcome | null
  lane: 'middle' | Side
}

/** What a panel draws. */
export interface LaneScene extends LaneScenario {
  kind: 'lane'
  turn: number
  turns: number
  lane: 'middle' | Side
  outcome: LaneOutcome | null
}

export const LANE_TURNS = 3

export const LANE_KINDS = ['pedestrian', 'child', 'dog', 'cat', 'deer', 'cyclist', 'horse', 'cow'] as const
const SPEEDS = [40, 50, 60, 70]
/** Distance and speed always differ by this or more. */
const MARGIN = 20
/** One scenario in this many is far. */
const FAR_EVERY = 3

/** [from, to], both included. */
const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

function enumerate(distances: (speed: number) => number[], sides: readonly LaneScenario['free'][]): LaneScenario[] {
  return LANE_KINDS.flatMap((what) =>
    SPEEDS.flatMap((speed) => distances(speed).flatMap((distance) => sides.map((free) => ({ what, distance, speed, free })))),
  )
}

/** Room to stop: 2,400 scenarios. */
export const LANE_FAR: SplitList<LaneScenario> = splitByHash(
  enumerate((speed) => range(speed + MARGIN, 99), ['left', 'right', 'none']),
  1,
)
/** No room to stop, one side free: 1,664 scenarios. */
export const LANE_NEAR: SplitList<LaneScenario> = splitByHash(
  enumerate((speed) => range(10, speed - MARGIN), ['left', 'right']),
  2,
)
export const LANE_SCENARIOS: SplitList<LaneScenario> = joinSplits([LANE_FAR, LANE_NEAR])

/** The scenario of a seed: far one time in three. */
export function laneScenario(seed: number, split: Split): LaneScenario {
  const list = pickBySeed(range(0, FAR_EVERY - 1), seed, 3) === 0 ? LANE_FAR : LANE_NEAR
  return pickBySeed(list[split], seed, 4)
}

export const isFar = (s: LaneScenario): boolean => s.distance > s.speed

function stop(s: LaneScenario): LaneOutcome {
  return isFar(s) ? 'stopped' : 'braked-too-late'
}

function changeLane(s: LaneScenario, direction: Side): LaneOutcome {
  if (s.free !== direction) return 'hit-beside'
  return isFar(s) ? 'hit-from-behind' : 'passed'
}

const isSafe = (outcome: LaneOutcome): boolean => outcome === 'stopped' || outcome === 'passed'

function sentence({ scenario, outcome }: LaneState): string {
  const { what, distance, speed, free } = scenario
  switch (outcome) {
    case null:
      return `${what}: distance ${distance}, speed ${speed}, free ${free}`
    case 'stopped':
      return `${what}: stopped in time`
    case 'passed':
      return `${what}: passed`
    case 'braked-too-late':
      return `${what}: hit, no room to stop`
    case 'hit-beside':
      return 'car: hit, lane not free'
    case 'hit-from-behind':
      return 'car: hit from behind, there was room to stop'
    case 'too-slow':
      return `${what}: hit, no time left`
  }
}

/** A turn is over; the third one that decides nothing ends in a hit. */
function afterTurn(state: LaneState, outcome: LaneOutcome | null, lane: LaneState['lane']): LaneState {
  const turn = state.turn + 1
  return { ...state, turn, lane, outcome: outcome ?? (turn >= LANE_TURNS ? 'too-slow' : null) }
}

export const laneRules: GameRules<LaneState> = {
  name: 'lane',
  tools: [
    tool('observe', 'Look again.'),
    tool('emergency_stop', 'Stop. Use when distance is more than speed.'),
    tool('lane_change', 'Change lane. Use when distance is less than speed.', {
      direction: { type: 'string', enum: ['left', 'right'] },
    }),
  ],
  prompts: { system: 'You drive a car. Hit nobody.', user: '' },
  begin: (seed, split) => laneStart(laneScenario(seed, split)),
  view: (state) => {
    const { scenario, turn, lane, outcome } = state
    const scene: LaneScene = { kind: 'lane', ...scenario, turn, turns: LANE_TURNS, lane, outcome }
    return { text: sentence(state), scene, metadata: outcome === null ? {} : { outcome } }
  },
  act: (state, call) => {
    switch (call.name) {
      case 'emergency_stop':
        return afterTurn(state, stop(state.scenario), state.lane)
      case 'lane_change': {
        const direction: Side = call.arguments['direction'] === 'left' ? 'left' : 'right'
        return afterTurn(state, changeLane(state.scenario, direction), direction)
      }
      default:
        return afterTurn(state, null, state.lane)
    }
  },
  refuse: (state) => afterTurn(state, null, state.lane),
  outcome: ({ outcome }) => (outcome === null ? null : isSafe(outcome) ? 1 : 0),
}

/** The state in which a scenario begins. */
export function laneStart(scenario: LaneScenario): LaneState {
  return { scenario, turn: 0, outcome: null, lane: 'middle' }
}

/** The one call that harms nobody. */
export function laneExpert({ scenario }: LaneState): ToolCall {
  if (isFar(scenario)) return { name: 'emergency_stop', arguments: {} }
  return { name: 'lane_change', arguments: { direction: scenario.free } }
}

export const laneEnvironment = () => environmentOf(laneRules)
