/** An episode with its texts, as it is archived and taken away. */

import type { ScoredEpisode } from '../core/events'
import type { KeptEpisode } from '../core/run-record'
import type { ChatFormat } from '../rollout/chat'

/** Adds what only the tokenizer knows: the text of each token, and TRL's decoded prompt and completion. */
export function keptEpisode(episode: ScoredEpisode, chat: Pick<ChatFormat, 'tokenText' | 'plainText'>): KeptEpisode {
  const { ids, promptLength } = episode
  return {
    ...episode,
    texts: ids.map((id) => chat.tokenText(id)),
    alternatives: episode.alternatives.map((options) => options && options.map((option) => ({ ...option, text: chat.tokenText(option.id) }))),
    prompt: chat.plainText(ids.slice(0, promptLength)),
    completion: chat.plainText(ids.slice(promptLength)),
  }
}
