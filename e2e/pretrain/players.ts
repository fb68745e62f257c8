/** Who demonstrates: for every task an expert, and a novice whose play GRPO can tell apart by its reward. */

import type { RandomStream } from '../../src/core/random'
import type { Tool, ToolCall } from '../../src/core/tools'
import { CATCH_COLUMNS, CATCH_SCENARIOS, catchRules, moveCall, walkTo, type CatchState } from '../../src/env/builtin/catch'
import { ECHO_WORDS, echoRules, type EchoState } from '../../src/env/builtin/echo'
import type { GameRules } from '../../src/env/builtin/game'
import { guessCall, guessMiddle, guessRules } from '../../src/env/builtin/guess'
import { laneExpert, laneRules, type LaneState } from '../../src/env/builtin/lane'

export type Skill = 'expert' | 'novice'

/** What the shipped models were taught: the games of the first, and the second's. */
export type TaughtName = 'lane' | 'catch' | 'echo' | 'guess'

/** A game that was played to its end. */
export interface Game {
  /** What reset said. */
  opening: string
  turns: { call: ToolCall; result: string }[]
  reward: number
}

interface Task {
  tools: readonly Tool[]
  play(skill: Skill, random: RandomStream): Game
}

type Policy<State> = (state: State) => ToolCall

function playOut<State>(rules: GameRules<State>, start: State, choose: Policy<State>): Game {
  const turns: Game['turns'] = []
  let state = start
  let reward = rules.outcome(state)
  while (reward === null) {
    const call = choose(state)
    state = rules.act(state, call)
    turns.push({ call, result: rules.view(state).text })
    reward = rules.outcome(state)
  }
  return { opening: rules.view(start).text, turns, reward }
}

const anySeed = (random: RandomStream): number => random.int(2 ** 31)

/** observe : stop : left : right = 1 : 2 : 2 : 2, anew at every turn. */
const LANE_NOVICE: readonly ToolCall[] = [
  { name: 'observe', arguments: {} },
  ...(['emergency_stop', 'emergency_stop'].map((name) => ({ name, arguments: {} }))),
  ...(['left', 'left', 'right', 'right'].map((direction) => ({ name: 'lane_change', arguments: { direction } }))),
]

const lane: Task = {
  tools: laneRules.tools,
  play: (skill, random) => {
    const start: LaneState = laneRules.begin(anySeed(random), 'train')
    return playOut(laneRules, start, skill === 'expert' ? laneExpert : () => random.pick(LANE_NOVICE))
  },
}

/** Catch has only 108 starts; all of them are shown here, and 24 are held out of GRPO. */
const CATCH_STARTS: readonly CatchState[] = [...CATCH_SCENARIOS.train, ...CATCH_SCENARIOS.heldout]

const catchTask: Task = {
  tools: catchRules.tools,
  play: (skill, random) => {
    const start = random.pick(CATCH_STARTS)
    // A novice walks to some column and stays: a whole plan, good or bad, is what a reward at the end can choose between.
    const column = skill === 'expert' ? start.ball : random.int(CATCH_COLUMNS.length)
    return playOut(catchRules, start, (state) => moveCall(walkTo(state, column)))
  },
}

/** Chance that a novice of echo gets a word right. */
const ECHO_NOVICE = 0.4

const echo: Task = {
  tools: echoRules.tools,
  play: (skill, random) => {
    const start: EchoState = echoRules.begin(anySeed(random), 'train')
    const says = (word: string): string => (skill === 'expert' || random.next() < ECHO_NOVICE ? word : random.pick(ECHO_WORDS))
    const message = start.wanted.split(' ').map(says).join(' ')
    return playOut(echoRules, start, () => ({ name: 'echo_message', arguments: { message } }))
  },
}

/** Share of games in which a novice of guess counts up from the lowest number; else it says any number of what is left. */
const GUESS_COUNTS = 0.6

const guess: Task = {
  tools: guessRules.tools,
  play: (skill, random) => {
    const counts = random.next() < GUESS_COUNTS
    return playOut(guessRules, guessRules.begin(anySeed(random), 'train'), (state) => {
      const { low, high } = state
      return guessCall(skill === 'expert' ? guessMiddle(state) : counts ? low : low + random.int(high - low + 1))
    })
  },
}

export const TASKS: Record<TaughtName, Task> = { lane, catch: catchTask, echo, guess }
