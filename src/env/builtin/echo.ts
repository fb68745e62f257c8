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

/** Few and common: a model as small as the shipped one must see each often enough to learn to copy it. */
export const ECHO_WORDS = ['apple', 'bird', 'cloud', 'fire', 'gold', 'house', 'moon', 'rain', 'river', 'snow', 'star', 'water'] as const

interface Messages {
  one: SplitList<string>
  two: SplitList<string>
}

/** Single words are few, so they are drawn as often as pairs; both are split. */
function messagesOf(words: readonly string[]): Messages {
  const twos = words.flatMap((a) => words.filter((b) => b !== a).map((b) => `${a} ${b}`))
  return { one: splitByHash([...words], 20), two: splitByHash(twos, 21) }
}

const MESSAGES = messagesOf(ECHO_WORDS)
/** 144 messages of one or two words. */
export const ECHO_SCENARIOS: SplitList<string> = joinSplits([MESSAGES.one, MESSAGES.two])

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

/** The game over any words (the tokenizer is trained on more than are played). */
export function echoRulesFor(words: readonly string[]): GameRules<EchoState> {
  const { one, two } = messagesOf(words)
  return {
    name: 'echo',
    tools: [tool('echo_message', 'Echo back the provided message.', { message: { type: 'string' } })],
    prompts: { system: 'Echo the message.', user: '' },
    begin: (seed, split) => ({ wanted: pickBySeed(pickBySeed([one, two], seed, 6)[split], seed, 7), said: null }),
    view: ({ wanted, said }) => {
      const scene: EchoScene = { kind: 'echo', wanted, said }
      return { text: `message "${said ?? wanted}"`, scene }
    },
    act: (state, call) => ({ ...state, said: String(call.arguments['message']) }),
    refuse: (state) => ({ ...state, said: '' }),
    outcome: ({ wanted, said }) => (said === null ? null : echoReward(wanted, said)),
  }
}

export const echoRules = echoRulesFor(ECHO_WORDS)

export const echoEnvironment = () => environmentOf(echoRules)
