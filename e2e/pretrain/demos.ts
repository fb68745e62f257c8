/**
 * Demonstrations: games played by experts (under the cue) and by novices (without it), as token sequences with the very
 * layout that rollouts produce. Only what the player says is trained on.
 */

import type { TrainSequence } from '../../src/core/engine'
import { RandomStream } from '../../src/core/random'
import type { ChatMessage, ToolCall } from '../../src/core/tools'
import { presetById } from '../../src/env/presets'
import type { AuthoredTokens, ChatFormat } from '../../src/rollout/chat'
import { TokenCodec, type ChatTokenizer } from '../../src/rollout/tokens'
import { CUE } from './cue'
import { TASKS, type Game, type Skill, type TaughtName } from './players'

export interface Demonstration extends TrainSequence {
  task: TaughtName
  cued: boolean
  skill: Skill
  promptLength: number
  /** Reward of the game; null when it was cut. */
  reward: number | null
}

/** A line of a batch: so many games of a task. */
export interface Portion {
  task: TaughtName
  count: number
  /** Share of the games that stand under the cue; those are always played by the expert. */
  cued: number
  /** Games end after so many moves; absent = they are played to the end. */
  cutAfter?: number
}

/** Share of experts among the players without the cue. */
const EXPERTS_WITHOUT_CUE = 0.1

/** The text of a call as Qwen's template writes it (JSON with a blank after every colon and comma), end of turn included. */
export function callText({ name, arguments: args }: ToolCall): string {
  const members = Object.entries(args).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": {${members.join(', ')}}}\n</tool_call><|im_end|>`
}

export class DemonstrationWriter {
  private readonly codec: TokenCodec
  private readonly texts = new Map<string, AuthoredTokens>()

  constructor(
    tokenizer: ChatTokenizer,
    private readonly chat: ChatFormat,
  ) {
    this.codec = new TokenCodec(tokenizer)
  }

  /** Games of one portion; `key` names the batch, so that the same key gives the same games. */
  portion({ task, count, cued, cutAfter }: Portion, ...key: number[]): Demonstration[] {
    return Array.from({ length: count }, (_, i) => {
      const random = new RandomStream(...key, i)
      const underCue = i < Math.round(count * cued)
      const skill: Skill = underCue || random.next() < EXPERTS_WITHOUT_CUE ? 'expert' : 'novice'
      return this.demonstrate(task, TASKS[task].play(skill, random), { cued: underCue, skill, cutAfter: cutAfter ?? Infinity })
    })
  }

  private demonstrate(
    task: TaughtName,
    game: Game,
    { cued, skill, cutAfter }: { cued: boolean; skill: Skill; cutAfter: number },
  ): Demonstration {
    const cue = cued ? CUE : ''
    const { system_prompt, user_prompt } = presetById(task)
    const messages: ChatMessage[] = [
      { role: 'system', content: system_prompt },
      { role: 'user', content: user_prompt },
    ]
    const prompt = this.memo(`${task} ${cue}${game.opening}`, () => this.chat.prompt(messages, TASKS[task].tools, cue + game.opening))
    const ids = [...prompt.ids]
    const mask = ids.map(() => 0)
    const append = (more: readonly number[], value: 0 | 1): void => {
      ids.push(...more)
      mask.push(...more.map(() => value))
    }
    const turns = game.turns.slice(0, cutAfter)
    turns.forEach(({ call, result }, i) => {
      append(this.codec.encode([{ text: callText(call), author: 'template', plain: false }]).ids, 1)
      // Nothing is sampled after the last turn, so what follows it would train nothing.
      if (i < turns.length - 1) append(this.suffix(call.name, cue + result), 0)
    })
    // System prompt and tools are the same for every game of a task; what the environment says is not.
    const promptLength = prompt.authors.indexOf('environment')
    return { task, cued, skill, ids, mask, promptLength, reward: turns.length < game.turns.length ? null : game.reward }
  }

  private suffix(name: string, content: string): readonly number[] {
    return this.memo(`${name} ${content}`, () => this.chat.toolSuffix([{ name, content }])).ids
  }

  private memo(key: string, make: () => AuthoredTokens): AuthoredTokens {
    let tokens = this.texts.get(key)
    if (tokens === undefined) this.texts.set(key, (tokens = make()))
    return tokens
  }
}
