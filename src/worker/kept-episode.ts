/** An episode with its texts, as it is archived and taken away. */

import type { Episode } from '../core/episode'
import type { ScoredEpisode } from '../core/events'
import type { KeptEpisode } from '../core/run-record'
import type { ChatFormat } from '../rollout/chat'

/** The texts of an episode's tokens, and of the likeliest ones where the model sampled. */
export function withTexts({ ids, alternatives }: Pick<Episode, 'ids' | 'alternatives'>, chat: Pick<ChatFormat, 'tokenText'>): Pick<KeptEpisode, 'texts' | 'alternatives'> {
  return {
    texts: ids.map((id) => chat.tokenText(id)),
    alternatives: alternatives.map((options) => options && options.map((option) => ({ ...option, text: chat.tokenText(option.id) }))),
  }
}

/** Adds what only the tokenizer knows: the text of each token, and TRL's decoded prompt and completion. */
export function keptEpisode(episode: ScoredEpisode, chat: Pick<ChatFormat, 'tokenText' | 'plainText'>): KeptEpisode {
  const { ids, promptLength } = episode
  return {
    ...episode,
    ...withTexts(episode, chat),
    prompt: chat.plainText(ids.slice(0, promptLength)),
    completion: chat.plainText(ids.slice(promptLength)),
  }
}
