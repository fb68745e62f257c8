/** The supervised loop on the table policy. */
import { describe, expect, it } from 'vitest'
import { trainSft, type SftExample, type SftOptions } from './sft'
import { ReplyEngine } from './testing/engine'
import { PROMPT, REPLIES } from './testing/episodes'

const example = (reply: number, task?: string): SftExample => ({
  ids: [PROMPT, ...(REPLIES[reply] as number[])],
  mask: [0, 1, 1],
  ...(task === undefined ? {} : { task }),
})

const options = (change: Partial<SftOptions> = {}): SftOptions => ({
  engine: new ReplyEngine({ replies: REPLIES, microBatch: 2 }),
  learning_rate: 0.1,
  adam_beta1: 0.9,
  adam_beta2: 0.999,
  adam_epsilon: 1e-8,
  weight_decay: 0,
  max_grad_norm: 1,
  max_steps: 60,
  lr_scheduler_type: 'cosine',
  warmup_steps: 3,
  batch: () => [example(2), example(2), example(2), example(0)],
  ...change,
})

describe('trainSft', () => {
  it('learns the frequencies of its data', async () => {
    const engine = new ReplyEngine({ replies: REPLIES })
    const losses: number[] = []
    const last = await trainSft(options({ engine, max_steps: 150, onStep: (record) => losses.push(record.loss) }))
    expect(losses[0]).toBeCloseTo(Math.log(3) / 2, 12)
    const best = -(0.75 * Math.log(0.75) + 0.25 * Math.log(0.25)) / 2
    expect(last.loss).toBeGreaterThan(best)
    expect(last.loss).toBeLessThan(best + 0.02)
    expect(engine.probabilities()[2]).toBeCloseTo(0.75, 1)
    expect(last.mean_token_accuracy).toBe(7 / 8)
    expect(last).toMatchObject({ step: 150, tokens: 8 })
  })

  it('adds up each task’s own token mean in one step', async () => {
    const engine = new ReplyEngine({ replies: REPLIES, microBatch: 2 })
    const batch = () => [example(0, 'a'), example(0, 'a'), example(1, 'b')]
    const record = await trainSft(options({ engine, max_steps: 1, warmup_steps: 0, weights: { b: 3 }, batch }))
    const nll = Math.log(3) / 2
    expect(record.taskLoss['a']).toBeCloseTo(nll, 12)
    expect(record.loss).toBeCloseTo(nll + 3 * nll, 12)
    // d/dθ of mean NLL is (p − onehot)/2: task a pulls reply 0 with weight 1, task b reply 1 with weight 3.
    const [g0, g1, g2] = engine.gradients[0] as Float64Array
    expect(g0).toBeCloseTo((1 / 3 - 1) / 2 + (3 * (1 / 3)) / 2, 12)
    expect(g1).toBeCloseTo(1 / 3 / 2 + (3 * (1 / 3 - 1)) / 2, 12)
    expect(g2).toBeCloseTo(1 / 3 / 2 + (3 * (1 / 3)) / 2, 12)
  })

  it('does not apply a step that is not finite', async () => {
    const engine = new ReplyEngine({ replies: REPLIES })
    engine.corrupt = (row) => row.fill(Infinity)
    await expect(trainSft(options({ engine }))).rejects.toMatchObject({ kind: 'non-finite' })
    expect(engine.version).toBe(0)
    expect(engine.isClear).toBe(true)
  })

  it('stops between steps', async () => {
    const controller = new AbortController()
    const engine = new ReplyEngine({ replies: REPLIES })
    const run = trainSft(options({ engine, signal: controller.signal, onStep: ({ step }) => void (step === 5 && controller.abort()) }))
    await expect(run).rejects.toMatchObject({ kind: 'stopped' })
    expect(engine.version).toBe(5)
    expect(engine.isClear).toBe(true)
  })
})
