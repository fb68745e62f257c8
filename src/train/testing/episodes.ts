/** Episodes for a ReplyEngine, written out without a rollout. For tests only. */

import type { Episode } from '../../core/episode'

/** A prompt token and an environment's token that no reply begins with. */
export const PROMPT = 900
export const RESULT = 901
/** Replies of two tokens each; the second ends the turn. */
export const REPLIES = [
  [10, 99],
  [20, 99],
  [30, 99],
]

/** One turn: prompt, the reply, an environment token. Four episodes a group. */
export function replyEpisode(index: number, reply: number, reward: number | null, change: Partial<Episode> = {}): Episode {
  const ids = [PROMPT, PROMPT, ...(REPLIES[reply] ?? []), RESULT]
  return {
    step: 1,
    index,
    group: Math.floor(index / 4),
    seed: 5,
    ids,
    mask: [0, 0, 1, 1, 0],
    logprobs: [0, 0, -Math.log(3), 0, 0],
    authors: ['template', 'template', 'model', 'model', 'environment'],
    alternatives: ids.map(() => null),
    promptLength: 2,
    turns: [{ start: 2, end: 4, resultEnd: 5, calls: [], parseError: null }],
    messages: [],
    reward,
    exit: reward === null ? 'env_error' : 'env_done',
    error: reward === null ? 'The bandit is out of order.' : null,
    terminated: true,
    ...change,
  }
}
