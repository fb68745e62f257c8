/** The preference loop on the table policy. */
import { describe, expect, it } from 'vitest'
import { DpoReference } from './dpo-reference'
import { trainDpo, type DpoPair, type DpoTrainOptions } from './dpo'
import { ReplyEngine } from './testing/engine'
import { PROMPT, REPLIES } from './testing/episodes'

const answer = (reply: number) => ({ ids: [PROMPT, ...(REPLIES[reply] as number[])], mask: [0, 1, 1] })
const pair = (chosen: number, rejected: number): DpoPair => ({ chosen: answer(chosen), rejected: answer(rejected) })

const options = (change: Partial<DpoTrainOptions> = {}): DpoTrainOptions => ({
  engine: new ReplyEngine({ replies: REPLIES, microBatch: 3 }),
  learning_rate: 0.05,
  adam_beta1: 0.9,
  adam_beta2: 0.999,
  adam_epsilon: 1e-8,
  weight_decay: 0,
  max_grad_norm: 1,
  max_steps: 40,
  lr_scheduler_type: 'constant',
  warmup_steps: 0,
  loss_type: 'sigmoid',
  beta: 0.5,
  label_smoothing: 0,
  batch: () => [pair(1, 0), pair(1, 2)],
  ...change,
})

describe('trainDpo', () => {
  it('begins at ln 2 with equal rewards, and lifts the margin', async () => {
    const engine = new ReplyEngine({ replies: REPLIES })
    const seen: Record<string, number | null>[] = []
    const last = await trainDpo(options({ engine, onStep: ({ metrics }) => seen.push(metrics) }))
    expect(seen[0]).toMatchObject({ loss: expect.closeTo(Math.LN2, 12), 'rewards/margins': 0, 'rewards/accuracies': 0 })
    expect(last.metrics['rewards/margins']).toBeGreaterThan(0.5)
    expect(last.metrics['rewards/accuracies']).toBe(1)
    expect(engine.probabilities()[1]).toBeGreaterThan(0.6)
    expect(last).toMatchObject({ step: 40, metrics: { mean_token_accuracy: 1 } })
  })

  it('scores a pair’s reference once, to the same numbers as at every step', async () => {
    const pairs = [pair(1, 0), pair(1, 2), pair(0, 2)]
    const run = async (batch: (step: number) => DpoPair[], before = false) => {
      const engine = new ReplyEngine({ replies: REPLIES })
      const asked: string[] = []
      const score = engine.score.bind(engine)
      engine.score = (sequences, how) => {
        asked.push(...sequences.map(() => how.adapter ?? 'current'))
        return score(sequences, how)
      }
      const metrics: Record<string, number | null>[] = []
      const reference = before ? new DpoReference(engine, 'current') : undefined
      await reference?.of(pairs)
      await trainDpo(options({ engine, max_steps: 6, batch, onStep: (record) => metrics.push(record.metrics), ...(reference ? { reference } : {}) }))
      return { metrics, theta: [...engine.theta], frozen: asked.filter((adapter) => adapter === 'reference').length, all: asked.length }
    }
    const two = (step: number) => [pairs[step % 3] as DpoPair, pairs[(step + 1) % 3] as DpoPair]
    const once = await run(two)
    // Copies are other pairs: each is scored whenever it comes.
    const always = await run((step) => two(step).map(({ chosen, rejected }) => ({ chosen, rejected })))
    const ahead = await run(two, true)
    expect([once.metrics, once.theta]).toEqual([always.metrics, always.theta])
    expect([ahead.metrics, ahead.theta]).toEqual([always.metrics, always.theta])
    expect([always.frozen, once.frozen, ahead.frozen]).toEqual([24, 6, 0])
    expect(ahead.all).toBe(24 + 6)
  })

  it('cannot score a pair once the weights have changed and no copy is kept', async () => {
    const engine = new ReplyEngine({ replies: REPLIES })
    const reference = new DpoReference(engine, 'current')
    const known = pair(1, 0)
    await trainDpo(options({ engine, reference, max_steps: 2, batch: () => [known] }))
    await expect(reference.of([known])).resolves.toHaveLength(1)
    await expect(reference.of([pair(1, 0)])).rejects.toThrow('the weights have changed')
  })

  it('does not depend on micro-batches, though they part the answers of a pair', async () => {
    const runs = [1, 3, 8].map((microBatch) => new ReplyEngine({ replies: REPLIES, microBatch }))
    for (const engine of runs) await trainDpo(options({ engine, max_steps: 5, loss_type: 'ipo' }))
    for (const engine of runs) engine.theta.forEach((x, i) => expect(Math.abs(x - (runs[0]?.theta[i] as number))).toBeLessThan(1e-12))
  })

  it('applies nothing of a step that was stopped, is empty, or is not finite', async () => {
    const engine = new ReplyEngine({ replies: REPLIES })
    await expect(trainDpo(options({ engine, signal: AbortSignal.abort() }))).rejects.toMatchObject({ kind: 'stopped' })
    await expect(trainDpo(options({ engine, batch: () => [] }))).rejects.toThrow('no pair')
    engine.corrupt = (logprobs) => logprobs.fill(NaN)
    await expect(trainDpo(options({ engine }))).rejects.toMatchObject({ kind: 'non-finite' })
    expect([engine.version, ...engine.theta]).toEqual([0, 0, 0, 0, 0])
  })
})
