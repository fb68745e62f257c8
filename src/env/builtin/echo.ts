/** Echo: say the quoted words back with a tool call. The smallest environment: one call, one reward. */

import { environmentOf, tool, type GameRules } from './game'
import { joinSplits, pickBySeed, splitByHash, type SplitList } from './scenarios'

export interface EchoState {
  wanted: string
  /** null until the call. */
  said: string | null
}

/** What a panel draws. */
export interface EchoScene {
  kind: 'echo'
  wanted: string
  said: string | null
}

export const ECHO_WORDS = [
  'apple', 'bird', 'boat', 'book', 'bread', 'cloud', 'door', 'fire', 'fish', 'flower', 'garden', 'gold',
  'green', 'hand', 'house', 'lake', 'leaf', 'light', 'moon', 'music', 'night', 'paper', 'rain', 'red',
  'river', 'road', 'snow', 'star', 'stone', 'sun', 'table', 'tree', 'water', 'white', 'wind', 'winter',
] as const

const ones = ECHO_WORDS.map((w): string => w)
const twos = ECHO_WORDS.flatMap((a) => ECHO_WORDS.filter((b) => b !== a).map((b) => `${a} ${b}`))

/** Single words are few, so they are drawn as often as pairs; both are split. */
const ONE: SplitList<string> = splitByHash(ones, 20)
const TWO: SplitList<string> = splitByHash(twos, 21)
/** 1,296 messages of one or two words. */
export const ECHO_SCENARIOS: SplitList<string> = joinSplits([ONE, TWO])

/**
 * Share of the wanted words that stand at their place, over the longer of the two messages: 1 only for an equal message. A share, not all
 * or nothing, so that a half-right answer is better than a wrong one and the curve moves from the first steps.
 */
export function echoReward(wanted: string, said: string): number {
  if (wanted === said) return 1
  const a = wanted.split(' ')
  const b = said.trim().split(/\s+/)
  const right = a.filter((word, i) => word === b[i]).length
  // Extra blanks make the words equal but not the message.
  return Math.min(right / Math.max(a.length, b.length), 0.9)
}

export const echoRules: GameRules<EchoState> = {
  name: 'echo',
  tools: [tool('echo_message', 'Echo back the provided message.', { message: { type: 'string' } })],
  prompts: { system: 'Echo the message.', user: '' },
  begin: (seed, split) => ({ wanted: pickBySeed(pickBySeed([ONE, TWO], seed, 6)[split], seed, 7), said: null }),
  view: ({ wanted, said }) => {
    const scene: EchoScene = { kind: 'echo', wanted, said }
    return { text: `message "${said ?? wanted}"`, scene }
  },
  act: (state, call) => ({ ...state, said: String(call.arguments['message']) }),
  refuse: (state) => ({ ...state, said: '' }),
  outcome: ({ wanted, said }) => (said === null ? null : echoReward(wanted, said)),
}

export const echoEnvironment = () => environmentOf(echoRules)
