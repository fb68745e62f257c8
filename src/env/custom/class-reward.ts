/** How a class says what an episode earned, read from its code without running it: by get_reward(), with a tool's answer, or not at all. */

import type { Node, Program } from 'acorn'

/** Where a code speaks of a `reward`. */
export interface RewardWords {
  /** As something that a tool may answer with: `{ text, reward }` or `answer.reward = 1`. */
  answers: boolean
  /** As a property of the instance, which nobody asks for: `this.reward = 1`. */
  keeps: boolean
}

/** What a code says of rewards beside get_reward. Where it may answer with one, it is taken to. */
export function rewardWords(program: Program): RewardWords {
  const words = { answers: false, keeps: false }
  const look = (node: Node): void => {
    const { type } = node
    const parts = node as unknown as Readonly<Record<string, unknown>>
    if (type === 'MemberExpression' && isNode(parts['object']) && parts['object'].type === 'ThisExpression' && isReward(parts['property'])) {
      words.keeps = true
      return
    }
    const isField = type === 'PropertyDefinition' && isReward(parts['key'])
    if (isField) words.keeps = true
    else if (isReward(node)) words.answers = true
    for (const [name, value] of Object.entries(parts)) {
      if (isField && name === 'key') continue
      for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(each)) look(each)
    }
  }
  look(program)
  return words
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** The name itself, or the text of it as in answer['reward']. */
const isReward = (node: unknown): boolean => isNode(node) && (('name' in node && node.name === 'reward') || ('value' in node && node.value === 'reward'))

/** What a person should know of a class that has no get_reward(); null where it answers with rewards. */
export function rewardWarning(called: string, { answers, keeps }: RewardWords): string | null {
  if (answers) return null
  if (keeps) {
    return `${called} sets this.reward, and nothing reads it: TRL’s reward functions would, through environments; here get_reward() is asked. Add get_reward() { return this.reward }.`
  }
  return `${called} has no get_reward(): nothing says what an episode earned. Add get_reward() and return a number, or let reward functions judge alone.`
}
