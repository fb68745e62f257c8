/** The tests of one repository at one precision: scores, gradients and greedy decoding against torch on the same weights. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Precision } from '../../src/core/config'
import type { Engine } from '../../src/core/engine'
import { readGradients } from '../../src/runtime/gradient-probe'
import { differing, expectScores, signature } from './compare'
import { accumulateLoss } from './engine-case'
import { precisionCase, repoCases } from './hub-case'
import { referenceTensors, relativeDifference } from './reference'

/** Declares the tests inside a describe. `tolerance` is for log-probs and entropies, nats. */
export function testRepo(repo: string, precision: Precision, tolerance: number, open: () => Promise<Engine>): void {
  const { batch, scale } = repoCases(repo)
  const example = precisionCase(repo, precision)
  const masks = batch.map((sequence) => sequence.mask)
  const adapter = referenceTensors(`${example.folder}/adapter.safetensors`)
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine?.dispose())

  it('starts as the base model, under the names that PEFT gives', async () => {
    expect((await engine.exportParameters()).map(signature).sort()).toEqual(adapter.map(signature).sort())
    for (const [temperature, scores] of Object.entries(example.base)) {
      expectScores(await engine.score(batch, { temperature: Number(temperature) }), scores, masks, tolerance)
    }
  })

  it('log-probs and entropies with an adapter, and with it off', async () => {
    await engine.importParameters(adapter)
    for (const [temperature, scores] of Object.entries(example.scores)) {
      expectScores(await engine.score(batch, { temperature: Number(temperature) }), scores, masks, tolerance)
    }
    const off = await engine.score(batch, { temperature: 0.7, adapter: 'off' })
    expectScores(off, example.base['0.7'] ?? [], masks, tolerance)
  })

  it.each(Object.entries(example.gradients))('every gradient, the loss and the norm at temperature %s', async (temperature, theirs) => {
    await engine.importParameters(adapter)
    const loss = await accumulateLoss(engine, batch, { temperature: Number(temperature), scale })
    expect(Math.abs(loss - theirs.loss)).toBeLessThan(tolerance)
    const { gradients, grad_norm } = await readGradients(engine)
    expect(differing(gradients, referenceTensors(theirs.file), relativeDifference, 1e-3)).toEqual([])
    expect(Math.abs(grad_norm / theirs.norm - 1)).toBeLessThan(1e-4)
  })

  it('greedy continuations of two prompts, decoded together', async () => {
    await engine.importParameters(adapter)
    for (const [slot, { prompt }] of example.greedy.entries()) {
      engine.reset(slot)
      await engine.prefill(slot, prompt.slice(0, 5))
      await engine.prefill(slot, prompt.slice(5))
    }
    const slots = [...example.greedy.keys()]
    for (let step = 0; step < (example.greedy[0]?.steps.length ?? 0); step++) {
      const sampled = await engine.sample(
        slots.map((slot) => ({ slot, uniform: 0.5 })),
        { temperature: 0, top_p: 1, top_k: 0, min_p: null },
      )
      for (const slot of slots) {
        const [own, theirs] = [sampled[slot], example.greedy[slot]?.steps[step]]
        if (!own || !theirs) throw new Error(`slot ${slot} has no token at step ${step}`)
        expect(own.id, `slot ${slot}, step ${step}`).toBe(theirs.id)
        expect(Math.abs(own.logprob - theirs.logprob)).toBeLessThan(tolerance)
        expect(Math.abs(own.entropy - theirs.entropy)).toBeLessThan(tolerance)
        expect(own.top.map(({ id }) => id)).toEqual(theirs.top.map(({ id }) => id))
        own.top.forEach(({ prob }, i) => expect(Math.abs(prob - (theirs.top[i]?.prob ?? NaN))).toBeLessThan(tolerance))
      }
      await engine.decode(slots.map((slot) => ({ slot, id: sampled[slot]?.id ?? -1 })))
    }
  })
}
