/** Echo: say the quoted words back with a tool call; what is rewarded is length. The smallest environment: one call, one reward. */

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

/** Characters that earn the whole reward: two of the longest words. */
const FULL_LENGTH = 13

/**
 * Grows with every character that is said, up to 1: the idea of the echo environment in TRL's example. It asks for length, not for
 * the words, so a policy learns within a few steps, and learns the wrong thing: to ramble.
 */
export function echoReward(said: string): number {
  return Math.min([...said].length / FULL_LENGTH, 1)
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
  outcome: ({ said }) => (said === null ? null : echoReward(said)),
}

export const echoEnvironment = () => environmentOf(echoRules)
