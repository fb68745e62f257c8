/** Games of somebody who knows the tools and nothing else: every call is drawn from all that fit. They show a model the form, not the choice. */

import type { Environment } from '../core/environment'
import { PlaygroundError } from '../core/errors'
import { possibleCalls } from '../core/possible-calls'
import { RandomStream } from '../core/random'
import type { ChatMessage, Tool } from '../core/tools'
import { firstMessages } from './first-messages'

/** Part of the random key of a game's calls. */
const GAME_KEY = 0x706c6179

export interface RandomPlay {
  /** Connected. */
  environment: Environment
  system_prompt: string
  user_prompt: string
  /** One game each. */
  seeds: readonly number[]
  /** Most calls of a game. */
  turns: number
  /** Decides the calls. */
  seed: number
  onGame?: (done: number) => void
  /** Awaited before each game. */
  gate?: () => Promise<void>
}

/** A game as a row for SFT. */
export interface PlayedGame {
  messages: ChatMessage[]
  tools: readonly Tool[]
}

/**
 * One game for each seed, of training scenarios; calls and scenarios depend on the seeds alone.
 *
 * @throws PlaygroundError 'config' where no tool's arguments are all a choice from a list, and what the environment throws
 */
export async function randomGames({ environment, system_prompt, user_prompt, seeds, turns, seed, onGame, gate }: RandomPlay): Promise<PlayedGame[]> {
  const games: PlayedGame[] = []
  for (const [game, scenario] of seeds.entries()) {
    await gate?.()
    const { environment: played, messages: begin = firstMessages({ system_prompt, user_prompt }), columns } = environment.assign?.({ seed: scenario, split: 'train' }) ?? { environment }
    const calls = possibleCalls(played.tools)
    if (calls.length === 0) {
      throw new PlaygroundError('config', `Nobody can play ${played.name} at random: its tools need arguments that are no choice from a list.`, 'Give the stage rows of your own.')
    }
    const random = new RandomStream(seed, GAME_KEY, game)
    const messages = begin.map((message) => ({ ...message }))
    const session = await played.open()
    try {
      let { text, done } = await session.reset({ seed: scenario, episode_id: `train-seed${seed}-game${game}`, split: 'train', ...(columns && { columns }) })
      const last = messages.at(-1)
      if (last) last.content += text
      for (let turn = 0; turn < turns && !done; turn++) {
        if (turn > 0) messages.push({ role: 'tool', name: messages.at(-1)?.tool_calls?.[0]?.function.name ?? '', content: text })
        const call = random.pick(calls)
        ;({ text, done } = await session.step(call))
        messages.push({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: call }] })
      }
    } finally {
      await session.close()
    }
    games.push({ messages, tools: played.tools })
    onGame?.(games.length)
  }
  return games
}
