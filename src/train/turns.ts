/** One engine for a rollout and an update at once: the rollout goes first, and while it waits for its environment the update goes on by a piece. */

import type { SequenceScores, TrainSequence } from '../core/engine'
import { type PauseGate, sleep, waitAtGate } from '../core/sleep'
import type { Rest } from '../rollout/types'
import { assertNotStopped } from './guard'
import type { UpdateEngine } from './update'

/** Most tokens of a piece of an update: what a rollout may have to wait for, should its environment answer meanwhile. */
const PIECE_TOKENS = 512
/** Before a piece, ms: what the sockets have brought meanwhile is taken in, and may be answered. */
const SETTLE_MS = 4

export class EngineTurns {
  private resting = false
  private over = false
  private wake: () => void = () => undefined
  /** The piece that is being computed; never rejects. */
  private piece: Promise<unknown> = Promise.resolve()

  /** The rollout waits for something else than the engine; a piece that was begun meanwhile goes to its end. */
  readonly rest: Rest = async (wait) => {
    this.open()
    try {
      return await wait
    } finally {
      this.resting = false
      await this.piece
    }
  }

  /** The rollout needs the engine no more. */
  end(): void {
    this.over = true
    this.open()
  }

  /** A gate where nothing is computed any more once somebody waits at it. */
  quiet(gate: PauseGate): PauseGate {
    return async () => {
      await this.piece
      await gate()
    }
  }

  /** Does a piece of the update, once the rollout rests and the gate is open. Throws PlaygroundError 'stopped' once the signal is aborted. */
  async take<T>(gate: PauseGate, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    do {
      if (!this.resting) await new Promise<void>((resolve) => (this.wake = resolve))
      if (!this.over) await sleep(SETTLE_MS, signal)
      await waitAtGate(gate, signal)
      assertNotStopped(signal)
    } while (!this.resting)
    const piece = work()
    this.piece = piece.catch(() => undefined)
    return piece
  }

  private open(): void {
    this.resting = true
    this.wake()
  }
}

export interface TurnOptions {
  gate: PauseGate
  signal?: AbortSignal
  /** Awaited before the optimizer step: who samples with the weights as they are is done then. */
  sampled: () => Promise<void>
  /** Around all that is computed. */
  compute: <T>(work: () => Promise<T>) => Promise<T>
}

/**
 * An engine whose training gives way to a rollout and is done in pieces. Which sequences are a piece, and their order, are the same whatever
 * the rollout does: so is the gradient, to the bit.
 */
export function inTurns(engine: UpdateEngine, turns: EngineTurns, { gate, signal, sampled, compute }: TurnOptions): UpdateEngine {
  const take = <T>(work: () => Promise<T>): Promise<T> => turns.take(gate, signal, () => compute(work))
  return {
    async score(batch, options) {
      const scores: SequenceScores[] = []
      for (const { sequences } of piecesOf(batch)) scores.push(...(await take(() => engine.score(sequences, options))))
      return scores
    },
    async accumulate(batch, options, loss) {
      for (const { from, sequences } of piecesOf(batch)) {
        await take(() => engine.accumulate(sequences, options, (indices, scores) => loss(indices.map((index) => from + index), scores)))
      }
    },
    async optimizerStep(params) {
      await sampled()
      assertNotStopped(signal)
      return compute(() => engine.optimizerStep(params))
    },
    zeroGradients: () => engine.zeroGradients(),
    get version() {
      return engine.version
    },
  }
}

/** A batch in pieces of consecutive sequences. Those of one prompt stay together where they fit: apart, its forward would be computed again. */
export function piecesOf(batch: readonly TrainSequence[], most = PIECE_TOKENS): { from: number; sequences: TrainSequence[] }[] {
  const pieces: { from: number; sequences: TrainSequence[]; tokens: number }[] = []
  for (const [from, run] of runsOf(batch)) {
    const last = pieces.at(-1)
    const tokens = tokensOf(run)
    if (last && last.tokens + tokens <= most) {
      last.sequences.push(...run)
      last.tokens += tokens
      continue
    }
    const parts = Math.min(run.length, Math.ceil(tokens / most))
    const size = Math.ceil(run.length / parts)
    for (let at = 0; at < run.length; at += size) {
      const sequences = run.slice(at, at + size)
      pieces.push({ from: from + at, sequences, tokens: tokensOf(sequences) })
    }
  }
  return pieces
}

/** Consecutive sequences that begin with the same prompt, with the place of the first. */
function runsOf(batch: readonly TrainSequence[]): [from: number, run: TrainSequence[]][] {
  const runs: [number, TrainSequence[]][] = []
  batch.forEach((sequence, i) => {
    const run = runs.at(-1)?.[1]
    const before = run?.at(-1)
    if (run && before && isAlike(before, sequence)) run.push(sequence)
    else runs.push([i, [sequence]])
  })
  return runs
}

/** Of a run; its prompt counts once. */
function tokensOf(run: readonly TrainSequence[]): number {
  return run.reduce((sum, { ids, promptLength = 0 }, i) => sum + ids.length - (i > 0 ? promptLength : 0), 0)
}

/** Whether both begin with the same prompt. */
function isAlike(a: TrainSequence, b: TrainSequence): boolean {
  const { promptLength = 0 } = b
  return a.promptLength === promptLength && b.ids.slice(0, promptLength).every((id, t) => id === a.ids[t])
}
