/** Every token of the last few steps, in plain arrays outside React: panels read from here, nothing here triggers a draw. */

import type { Author } from '../core/episode'
import type { AppendedToken, ScoredEpisode, TokenOption } from '../core/events'
import type { Examination } from '../core/examination'
import { trainedMask } from '../core/trained-mask'
import { KEPT_EPISODE_STEPS } from './view'

export interface LoggedToken {
  id: number
  text: string
  author: Author
  /** 1 where the token trains. */
  mask: 0 | 1
  /** The sampler's log-prob, nats. */
  logprob: number | null
  /** The training graph's log-prob before the update, nats; null until the step is done. */
  trainLogprob: number | null
  /** Nats; null until the step is done. */
  entropy: number | null
  /** The reference's log-prob, nats; only with beta, once the step is done. */
  refLogprob?: number
  /** π_old's, nats, where that is not the training graph's: of a token that other weights sampled. */
  oldLogprob?: number
  /** The log-prob that the last of several optimizer steps began with, nats. */
  lastLogprob?: number
  /** The base model's log-prob of a trained token, nats; where it was examined. */
  baseLogprob?: number
  /** The log-prob under a later adapter, nats, where it was examined: after the update of the token's step in the recording, now in a run. */
  afterLogprob?: number
  top: readonly TokenOption[] | null
}

/** A ring of steps; each step holds its episodes' tokens by index. */
export class TokenLog {
  private readonly steps = new Map<number, Map<number, LoggedToken[]>>()
  /** Text of every token id that was seen, for alternatives that arrive as bare ids. */
  private readonly texts = new Map<number, string>()
  /** Rises whenever numbers of tokens that stand here already change: what is drawn of them is then old. */
  revision = 0

  /** Makes room for a step and drops the oldest beyond the kept ones. */
  startStep(step: number): void {
    this.steps.delete(step)
    this.steps.set(step, new Map())
    for (const old of this.steps.keys()) {
      if (this.steps.size <= KEPT_EPISODE_STEPS) break
      this.steps.delete(old)
    }
  }

  /** Starts an episode with its prompt; a second start replaces the first. */
  startEpisode(step: number, index: number, prompt: readonly AppendedToken[]): void {
    if (!this.steps.has(step)) this.startStep(step)
    this.steps.get(step)?.set(index, [])
    this.append(step, index, prompt)
  }

  append(step: number, index: number, tokens: readonly AppendedToken[]): void {
    const log = this.steps.get(step)?.get(index)
    if (!log) return
    for (const token of tokens) {
      this.texts.set(token.id, token.text)
      const mask = token.mask ?? (token.author === 'model' ? 1 : 0)
      log.push({ ...token, mask, trainLogprob: null, entropy: null })
    }
  }

  /** Adds what is known only after the update. Lengths that disagree are left alone: a wrong pairing would mislead. */
  score(episode: ScoredEpisode): void {
    const log = this.steps.get(episode.step)?.get(episode.index)
    if (!log || log.length !== episode.ids.length) return
    this.revision++
    const trained = trainedMask(episode)
    for (let i = 0; i < log.length; i++) {
      const token = log[i] as LoggedToken
      token.mask = trained[i] ?? 0
      if (token.mask === 0) continue
      token.trainLogprob = episode.trainLogprobs?.[i] ?? null
      token.entropy = episode.entropies?.[i] ?? null
      if (episode.stale) token.oldLogprob = episode.logprobs[i] ?? 0
      const ref = episode.refLogprobs?.[i]
      const last = episode.lastLogprobs?.[i]
      if (ref !== undefined) token.refLogprob = ref
      if (last !== undefined) token.lastLogprob = last
      const base = episode.baseLogprobs?.[i]
      const after = episode.afterLogprobs?.[i]
      if (base !== undefined) token.baseLogprob = base
      if (after !== undefined) token.afterLogprob = after
    }
  }

  /** Adds what an examination of a whole episode found; left alone like scores where the lengths disagree. */
  examine(step: number, index: number, { logprobs, baseLogprobs }: Pick<Examination, 'logprobs' | 'baseLogprobs'>): void {
    const log = this.steps.get(step)?.get(index)
    if (!log || log.length !== logprobs.length) return
    this.revision++
    for (let i = 0; i < log.length; i++) {
      const token = log[i] as LoggedToken
      if (token.mask === 0) continue
      const [after, base] = [logprobs[i], baseLogprobs[i]]
      if (after !== undefined) token.afterLogprob = after
      if (base !== undefined) token.baseLogprob = base
    }
  }

  /** Tokens of one episode, prompt first; empty when they are not kept. The array grows in place. */
  read(step: number, index: number): readonly LoggedToken[] {
    return this.steps.get(step)?.get(index) ?? NONE
  }

  /** What to write for an alternative: its text where known, else its id. */
  textOf(option: TokenOption): string {
    return option.text ?? this.texts.get(option.id) ?? `#${option.id}`
  }

  clear(): void {
    this.steps.clear()
  }
}

const NONE: readonly LoggedToken[] = []

/** The two log-probs of a token's ratio, nats: of the policy that the recorded optimizer step began with, and of π_old; null before the update. */
export function ratioLogprobs({ trainLogprob, oldLogprob, lastLogprob }: LoggedToken): { now: number; old: number } | null {
  return trainLogprob === null ? null : { now: lastLogprob ?? trainLogprob, old: oldLogprob ?? trainLogprob }
}

/** Whether the recorded optimizer step began with another policy than π_old. */
export const isLater = ({ lastLogprob, oldLogprob }: LoggedToken): boolean => lastLogprob !== undefined || oldLogprob !== undefined
