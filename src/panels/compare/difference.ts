/** What differs between an episode of the base model and one with the LoRA, token by token. Pure. */

import type { ComparedEpisode, PolicyComparison } from '../../core/examination'

/** Where the two part. `common`: tokens after the prompt that are the same. */
export type Parting =
  | { kind: 'prompt' }
  | { kind: 'nowhere'; common: number }
  /** Both wrote on; at `at` (in the episode) they wrote different tokens. */
  | { kind: 'token'; common: number; at: number; base: PartingToken; lora: PartingToken }
  /** All that one wrote is the beginning of what the other wrote. */
  | { kind: 'end'; common: number; at: number; ended: 'base' | 'lora' }
  /** The environment answered the same in another way. */
  | { kind: 'environment'; common: number; at: number }

interface PartingToken {
  text: string
  /** Its probability under either policy. */
  underBase: number
  underLora: number
}

/** Compares the tokens from the beginning on. */
export function partingOf({ base, lora }: PolicyComparison): Parting {
  const length = Math.min(base.ids.length, lora.ids.length)
  let at = 0
  while (at < length && base.ids[at] === lora.ids[at]) at++
  const { promptLength } = base
  if (at < promptLength || lora.promptLength !== promptLength) return { kind: 'prompt' }
  const common = at - promptLength
  if (at === base.ids.length && at === lora.ids.length) return { kind: 'nowhere', common }
  if (at === length) return { kind: 'end', common, at, ended: at === base.ids.length ? 'base' : 'lora' }
  if (base.mask[at] !== 1 || lora.mask[at] !== 1) return { kind: 'environment', common, at }
  const token = (side: ComparedEpisode, logBase: number, logLora: number): PartingToken => ({
    text: side.texts[at] ?? '',
    underBase: Math.exp(logBase),
    underLora: Math.exp(logLora),
  })
  return {
    kind: 'token',
    common,
    at,
    base: token(base, base.logprobs[at] ?? 0, base.otherLogprobs[at] ?? 0),
    lora: token(lora, lora.otherLogprobs[at] ?? 0, lora.logprobs[at] ?? 0),
  }
}

/** log-prob under the LoRA − under the base, [tokens]; null where the model did not write. */
export function changesOf({ mask, logprobs, otherLogprobs }: ComparedEpisode, who: 'base' | 'lora'): (number | null)[] {
  const sign = who === 'lora' ? 1 : -1
  return mask.map((bit, i) => (bit === 1 ? sign * ((logprobs[i] ?? 0) - (otherLogprobs[i] ?? 0)) + 0 : null))
}

/** The token whose probability changed most: its position, and the probability under either; null where none did by more than rounding. */
export function mostChanged(episode: ComparedEpisode, who: 'base' | 'lora'): { at: number; base: number; lora: number } | null {
  const found = changesOf(episode, who).reduce<{ at: number; base: number; lora: number } | null>((most, change, at) => {
    if (change === null) return most
    const [own, other] = [Math.exp(episode.logprobs[at] ?? 0), Math.exp(episode.otherLogprobs[at] ?? 0)]
    const [base, lora] = who === 'lora' ? [other, own] : [own, other]
    return most && Math.abs(most.lora - most.base) >= Math.abs(lora - base) ? most : { at, base, lora }
  }, null)
  return found && Math.abs(found.lora - found.base) >= ROUNDING ? found : null
}

/** A smaller difference of two probabilities would be written as none. */
const ROUNDING = 5e-4
