/** Episodes as rows: the good ones to imitate, and of each group a better one beside a worse one to prefer. */

import { APPENDED, type Episode } from '../../core/episode'
import type { ChatMessage, Tool } from '../../core/tools'

type Played = Pick<Episode, 'group' | 'index' | 'messages' | 'reward' | 'environment'>

/** Where episodes were played; of several environments each episode names its own. */
export interface PlayedIn {
  tools: readonly Tool[]
  members?: readonly { name: string; tools: readonly Tool[] }[]
}

const toolsOf = ({ environment }: Pick<Played, 'environment'>, { tools, members }: PlayedIn): readonly Tool[] => members?.find(({ name }) => name === environment)?.tools ?? tools

interface PlayedRow {
  tools?: readonly Tool[]
  chat_template_kwargs: { enable_thinking: boolean }
}

/** One episode as a row with `messages`, whatever its reward; null where nothing was said in it. */
export function demonstration(episode: Pick<Episode, 'messages'>, tools: readonly Tool[], enable_thinking: boolean): (PlayedRow & { messages: ChatMessage[] }) | null {
  return speaks(episode) ? { messages: episode.messages, ...common(tools, enable_thinking) } : null
}

/** Rows with `messages` of all episodes whose reward is at least `least`, in the order of the episodes. */
export function demonstrations(episodes: readonly Played[], venue: PlayedIn, enable_thinking: boolean, least: number): (PlayedRow & { messages: ChatMessage[] })[] {
  return episodes.filter(({ reward }) => reward !== null && reward >= least).flatMap((episode) => demonstration(episode, toolsOf(episode, venue), enable_thinking) ?? [])
}

/**
 * Rows with `prompt`, `chosen` and `rejected`: in each group the best episode beside the worst, the second best beside the second worst, and
 * so on while their rewards differ. Episodes without a reward are no part of it, and answers to different prompts (an environment that draws
 * its scenario without the seed) are no pair.
 */
export function preferences(
  episodes: readonly Played[],
  venue: PlayedIn,
  enable_thinking: boolean,
): (PlayedRow & { prompt: ChatMessage[]; chosen: ChatMessage[]; rejected: ChatMessage[] })[] {
  const scored = episodes.filter((episode) => episode.reward !== null && speaks(episode))
  return [...new Set(scored.map(({ group }) => group))].flatMap((group) => {
    const ranked = scored.filter((episode) => episode.group === group).sort((a, b) => (b.reward ?? 0) - (a.reward ?? 0) || a.index - b.index)
    return ranked.slice(0, Math.floor(ranked.length / 2)).flatMap((better, i) => {
      const worse = ranked.at(-1 - i) as Played
      if (better.reward === worse.reward) return []
      const [prompt, chosen] = halves(better.messages)
      const [other, rejected] = halves(worse.messages)
      return isAlike(chosen, rejected) || !isAlike(prompt, other) ? [] : [{ prompt, chosen, rejected, ...common(toolsOf(better, venue), enable_thinking) }]
    })
  })
}

const isAlike = (one: readonly ChatMessage[], other: readonly ChatMessage[]): boolean => JSON.stringify(one) === JSON.stringify(other)

const speaks = (episode: Pick<Episode, 'messages'>): boolean => episode.messages.some(({ role }) => role === 'assistant') && isChat(episode)

const isChat = ({ messages }: Pick<Episode, 'messages'>): boolean => !messages.some(({ name }) => name === APPENDED)

/** Why these episodes give no rows, where it is how they were written; null where that is not it. */
export const whyNoChat = (episodes: readonly Pick<Episode, 'messages'>[]): string | null =>
  episodes.every(isChat) ? null : 'The rollout_func wrote prompts or results of its own in no form that the chat template has, so such episodes are no conversations to learn from. Write prompts by adding to the last message, and results with trainer.tool_suffix.'

/** What the model was given, and what came of it. */
function halves(messages: readonly ChatMessage[]): [ChatMessage[], ChatMessage[]] {
  const first = messages.findIndex(({ role }) => role === 'assistant')
  return [messages.slice(0, first), messages.slice(first)]
}

const common = (tools: readonly Tool[], enable_thinking: boolean): PlayedRow => ({ ...(tools.length > 0 ? { tools } : {}), chat_template_kwargs: { enable_thinking } })
