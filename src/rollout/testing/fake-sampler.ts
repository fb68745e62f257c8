/** A sampler without a model: a policy says the next token of each slot; every call is counted and checked as an engine would. */

import type { SampledToken, Sampler, SamplingParams } from '../../core/engine'
import { hash, uniform as uniformOf } from '../../core/random'
import type { ChatFormat } from '../chat'

/** The next token after `ids`; the only randomness is `uniform`. */
export type Policy = (ids: readonly number[], uniform: number) => number

export interface SamplerCall {
  kind: 'prefill' | 'copy' | 'decode' | 'sample'
  /** Slots written or sampled, in order. */
  slots: number[]
  /** Tokens appended. */
  tokens: number
}

export class FakeSampler implements Sampler {
  readonly calls: SamplerCall[] = []
  /** Every context that was sampled from. */
  readonly contexts: number[][] = []
  private readonly held: number[][]
  /** A hash of each slot's tokens and of the pieces in which they came: other pieces are other bits in a real cache. */
  private readonly states: number[]
  /** Which weights are used; a policy may look at it. */
  adapter: 'current' | 'off' = 'current'
  private busy = false

  constructor(
    readonly slots: number,
    private readonly policy: Policy,
    readonly contextLength = 4096,
    /** What each call takes; by default one macrotask. */
    private readonly delay: () => Promise<void> = () => new Promise((resolve) => setImmediate(resolve)),
  ) {
    this.held = Array.from({ length: slots }, () => [])
    this.states = Array.from({ length: slots }, () => 0)
  }

  count(kind: SamplerCall['kind']): number {
    return this.calls.filter((call) => call.kind === kind).length
  }

  length(slot: number): number {
    return this.at(slot).length
  }

  reset(slot: number): void {
    this.at(slot).length = 0
    this.states[slot] = 0
  }

  prefill(slot: number, ids: readonly number[]): Promise<void> {
    return this.perform({ kind: 'prefill', slots: [slot], tokens: ids.length }, () => {
      if (ids.length === 0) throw new Error('prefill of nothing')
      this.append(slot, ids)
    })
  }

  copy(from: number, to: readonly number[]): Promise<void> {
    return this.perform({ kind: 'copy', slots: [...to], tokens: 0 }, () => {
      if (to.length === 0 || to.includes(from)) throw new Error('copy to nothing or to itself')
      for (const slot of to) {
        this.at(slot).splice(0, Infinity, ...this.at(from))
        this.states[slot] = this.states[from] ?? 0
      }
    })
  }

  decode(tokens: readonly { slot: number; id: number }[]): Promise<void> {
    const slots = tokens.map(({ slot }) => slot)
    return this.perform({ kind: 'decode', slots, tokens: tokens.length }, () => {
      if (tokens.length === 0 || new Set(slots).size !== slots.length) throw new Error('decode of nothing or of a slot twice')
      for (const { slot, id } of tokens) this.append(slot, [id])
    })
  }

  sample(requests: readonly { slot: number; uniform: number }[], _params: SamplingParams): Promise<SampledToken[]> {
    return this.perform({ kind: 'sample', slots: requests.map(({ slot }) => slot), tokens: 0 }, () =>
      requests.map(({ slot, uniform }) => {
        const ids = this.at(slot)
        if (ids.length === 0) throw new Error(`slot ${slot} is empty`)
        this.contexts.push([...ids])
        const id = this.policy(ids, uniform)
        return { id, logprob: -uniformOf(this.states[slot] ?? 0, id) - uniform, entropy: 1, top: [{ id, prob: 0.5 }] }
      }),
    )
  }

  /** As the engine's: a switch empties all slots. */
  async useAdapter(adapter: 'current' | 'off'): Promise<void> {
    await this.delay()
    if (adapter === this.adapter) return
    this.adapter = adapter
    for (let slot = 0; slot < this.slots; slot++) this.reset(slot)
  }

  private at(slot: number): number[] {
    const ids = this.held[slot]
    if (ids === undefined) throw new Error(`no slot ${slot}`)
    return ids
  }

  private append(slot: number, ids: readonly number[]): void {
    const held = this.at(slot)
    if (held.length + ids.length > this.contextLength) throw new Error(`slot ${slot} is over its context`)
    held.push(...ids)
    this.states[slot] = hash(this.states[slot] ?? 0, ids.length, ...ids)
  }

  private async perform<T>(call: SamplerCall, act: () => T): Promise<T> {
    // The rollout never asks for two things at once: on a GPU that would kill the module.
    if (this.busy) throw new Error(`${call.kind} while another call runs`)
    this.busy = true
    this.calls.push(call)
    await this.delay()
    const result = act()
    this.busy = false
    return result
  }
}

/**
 * A policy that writes, in its n-th turn (from 0), one of the texts that `reply` names and then ends the turn. Where the texts
 * part, the uniform number decides. For chat formats with thinking off.
 */
export function scripted(
  chat: ChatFormat,
  encode: (text: string) => number[],
  reply: (turn: number, context: string) => string | readonly string[],
): Policy {
  const header = encode('<|im_start|>assistant\n<think>\n\n</think>\n\n')
  const endOfTurn = chat.endOfTurnIds[0] as number
  return (ids, uniform) => {
    const starts = ids.flatMap((_, i) => (header.every((id, k) => ids[i + k] === id) ? [i] : []))
    const start = starts.at(-1)
    if (start === undefined) throw new Error('the context holds no turn of the assistant')
    const written = ids.slice(start + header.length)
    const texts = [reply(starts.length - 1, chat.text(ids.slice(0, start)))].flat()
    const fitting = texts.map(encode).filter((text) => written.every((id, i) => text[i] === id))
    return fitting[Math.floor(uniform * fitting.length)]?.[written.length] ?? endOfTurn
  }
}
