/**
 * trainer.generate of a rollout function: completions of given tokens, drawn as the page's own loop draws them: the same pieces of
 * prefill, the same uniform numbers keyed by (seed, step, episode, position).
 */

import type { SampledToken } from '../../core/engine'
import { PlaygroundError } from '../../core/errors'
import { uniform } from '../../core/random'
import { waitAtGate } from '../../core/sleep'
import { SlotPool } from '../slots'
import type { RolloutRequest } from '../types'

/** What is to be written on: an episode's tokens so far. */
export interface Beginning {
  /** Index of the episode in the step. */
  index: number
  ids: readonly number[]
}

/** What was drawn after a beginning. */
export interface Drawn extends Beginning {
  tokens: SampledToken[]
}

/** What a call may set; absent: as the run. */
export interface GenerateOptions {
  temperature?: number
  top_k?: number
  top_p?: number
  min_p?: number | null
  max_new_tokens?: number
}

type Parts = Pick<RolloutRequest, 'step' | 'config' | 'sampler' | 'chat' | 'gate' | 'signal' | 'lanes'>

interface Writing extends Drawn {
  slot: number
  limit: number
  attempt: number
  done: boolean
}

export class Generator {
  /** Everything that was drawn in this step. */
  readonly drawn: Drawn[] = []
  private readonly pool: SlotPool
  private readonly first = new Map<number, number>()
  private closed = false
  private queue: Promise<unknown> = Promise.resolve()

  /** `prefix`: tokens with which the prompts of different groups begin. */
  constructor(
    private readonly parts: Parts,
    prefix: readonly number[],
    /** Told each token; `drawn` holds it already. */
    private readonly onToken: (drawn: Drawn, token: SampledToken) => void,
  ) {
    this.pool = new SlotPool(parts.sampler, prefix)
  }

  /** Completions in the order of `beginnings`; calls wait for each other. Throws PlaygroundError('config') for one that fills the context. */
  generate(beginnings: readonly Beginning[], options: GenerateOptions = {}): Promise<Drawn[]> {
    const next = this.queue.then(() => this.write(beginnings, options))
    this.queue = next.catch(() => undefined)
    return next
  }

  private async write(beginnings: readonly Beginning[], options: GenerateOptions): Promise<Drawn[]> {
    const { sampler, config, step, gate, signal, chat, lanes } = this.parts
    this.assertOpen()
    const params = {
      temperature: options.temperature ?? config.temperature,
      top_k: options.top_k ?? config.top_k,
      top_p: options.top_p ?? config.top_p,
      min_p: options.min_p === undefined ? config.min_p : options.min_p,
    }
    const all = beginnings.map((one, i): Writing => {
      const { index, ids } = one
      const first = this.first.get(index) ?? ids.length
      this.first.set(index, first)
      const limit = Math.min(first + config.max_completion_length, sampler.contextLength, ids.length + (options.max_new_tokens ?? Infinity))
      if (ids.length >= sampler.contextLength) {
        throw new PlaygroundError('config', `trainer.generate was given ${ids.length} tokens; the context holds ${sampler.contextLength}.`, 'Shorten the prompts.')
      }
      // The same place drawn again gets other numbers.
      const again = (other: Drawn): boolean => other.index === index && other.ids.length + other.tokens.length > ids.length
      const attempt = this.drawn.filter(again).length + beginnings.slice(0, i).filter((other) => other.index === index).length
      return { index, ids: [...ids], tokens: [], slot: -1, limit, attempt, done: ids.length >= limit }
    })
    let waiting = all.filter(({ done }) => !done)
    let writing: Writing[] = []
    this.assertKnown(all)
    try {
      while (waiting.length + writing.length > 0) {
        await waitAtGate(gate, signal)
        if (signal?.aborted) throw new PlaygroundError('stopped', 'The run was stopped.')
        this.assertOpen()
        const admitted = waiting.slice(0, this.pool.free)
        waiting = waiting.slice(admitted.length)
        await this.admit(admitted, waiting)
        writing.push(...admitted)
        for (const { slot, index } of writing) lanes?.begin(slot, 'sampling', index, 0)
        const requests = writing.map(({ slot, index, ids, tokens, attempt }) => {
          const at = ids.length + tokens.length
          return { slot, uniform: attempt === 0 ? uniform(config.seed, step, index, at) : uniform(config.seed, step, index, at, attempt) }
        })
        const sampled = await sampler.sample(requests, params)
        writing.forEach((one, i) => {
          const token = sampled[i]
          if (token === undefined) throw new PlaygroundError('engine', `The sampler gave no token for slot ${one.slot}.`)
          one.tokens.push(token)
          this.onToken(one, token)
          one.done = chat.endOfTurnIds.includes(token.id) || one.ids.length + one.tokens.length >= one.limit
          if (one.done) this.release(one.slot)
        })
        writing = writing.filter(({ done }) => !done)
        const next = writing.map(({ slot, tokens }) => ({ slot, id: (tokens.at(-1) as SampledToken).id }))
        if (next.length > 0) await sampler.decode(next)
      }
    } finally {
      for (const { slot } of writing) this.release(slot)
    }
    const drawn = all.map(({ index, ids, tokens }): Drawn => ({ index, ids, tokens }))
    this.drawn.push(...drawn)
    return drawn
  }

  /** Ends what is being drawn, waits until it has, and takes no more: a call that nobody awaited must not reach into the next step. */
  async close(): Promise<void> {
    this.closed = true
    await this.queue
  }

  private assertOpen(): void {
    if (this.closed) throw new PlaygroundError('stopped', 'The step of this trainer.generate is over.', 'Await every call of trainer.generate.')
  }

  /** Before any slot is taken. */
  private assertKnown(all: readonly Writing[]): void {
    const { largestId } = this.parts.chat
    for (const { ids } of all) {
      const strange = ids.find((id) => id > largestId)
      if (strange !== undefined) throw new PlaygroundError('config', `trainer.generate was given the token ${strange}; the vocabulary ends at ${largestId}.`, 'Give ids of trainer.tokenize or of an earlier answer.')
    }
  }

  private async admit(admitted: readonly Writing[], waiting: readonly Writing[]): Promise<void> {
    if (admitted.length === 0) return
    const { lanes } = this.parts
    const from = lanes?.now() ?? 0
    lanes?.endAll('sampling')
    const key = ({ ids }: Writing): string => ids.join(',')
    // The pool tells its episodes apart by index; two of one row may be written at once.
    const slots = await this.pool.admit(admitted.map((one, i) => ({ index: i, ids: one.ids, coming: waiting.filter((other) => key(other) === key(one)).length })))
    admitted.forEach((one, i) => {
      one.slot = slots[i] as number
      lanes?.add(one.slot, 'prefill', one.index, 0, from)
    })
  }

  private release(slot: number): void {
    this.pool.release(slot)
    this.parts.lanes?.end(slot)
  }
}
