/** Log-probs, entropies, gradients and AdamW of our engine against PyTorch float64, transformers and PEFT. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/core/engine'
import { readGradients } from '../../src/runtime/gradient-probe'
import { compareScores, differing, expectScores, signature } from './compare'
import { accumulateLoss, modelCases, models, referenceEngine } from './engine-case'
import { largestDifference, referenceTensors, relativeDifference } from './reference'

it('has references for the shipped model', () => {
  expect(models).toContain('tiny-qwen3')
})

describe.each(models)('%s', (model) => {
  const { batch, base, cases } = modelCases(model)
  const masks = batch.map((sequence) => sequence.mask)
  const loras = [...new Map(cases.map((example) => [example.name, example.lora]))]

  describe.each(loras)('LoRA %s', (name, lora) => {
    const mine = cases.filter((example) => example.name === name)
    const initial = referenceTensors(`${mine[0]?.folder}/initial.safetensors`)
    let engine: Engine
    beforeAll(async () => {
      engine = await referenceEngine(model, lora)
    })
    afterAll(() => engine?.dispose())

    it('starts as the base model, under the names that a saved file has', async () => {
      expect((await engine.exportParameters()).map(signature).sort()).toEqual(initial.map(signature).sort())
      for (const [temperature, scores] of Object.entries(base)) {
        expectScores(await engine.score(batch, { temperature: Number(temperature) }), scores, masks)
      }
    })

    it('imports parameters to the last bit', async () => {
      await engine.importParameters(initial)
      expect(differing(await engine.exportParameters(), initial, largestDifference, Number.MIN_VALUE)).toEqual([])
    })

    describe.each(mine)('temperature $temperature', (example) => {
      it('log-probs and entropies', async () => {
        await engine.importParameters(initial)
        expectScores(await engine.score(batch, { temperature: example.temperature }), example.scores, masks)
      })

      it('the same whatever the order and without the packing hint', async () => {
        const plain = batch.map(({ ids, mask }) => ({ ids, mask })).reverse()
        const scores = await engine.score(plain, { temperature: example.temperature })
        expectScores(scores.reverse(), example.scores, masks)
      })

      if (lora !== null) {
        it('the base model with the adapter off', async () => {
          const theirs = base[example.temperature.toFixed(1)] ?? []
          expectScores(await engine.score(batch, { temperature: example.temperature, adapter: 'off' }), theirs, masks)
        })
      }

      it('every gradient, the loss and the norm', async () => {
        await engine.importParameters(initial)
        const loss = await accumulateLoss(engine, batch, example)
        expect(loss).toBeCloseTo(example.losses[0] as number, 4)
        const { gradients, grad_norm } = await readGradients(engine)
        expect(differing(gradients, referenceTensors(`${example.folder}/gradients.safetensors`), relativeDifference, 1e-3)).toEqual([])
        expect(Math.abs(grad_norm / (example.norms[0] as number) - 1)).toBeLessThan(1e-5)
      })

      it('ten AdamW steps', async () => {
        await engine.importParameters(initial)
        const version = engine.version
        for (const [step, norm] of example.norms.entries()) {
          expect(await accumulateLoss(engine, batch, example)).toBeCloseTo(example.losses[step] as number, 3)
          const { grad_norm } = await engine.optimizerStep(example.optimizer)
          expect(grad_norm / norm).toBeCloseTo(1, 3)
          if (lora === null && step > 0 && step < example.norms.length - 1) continue
          const theirs = referenceTensors(`${example.folder}/after-${step + 1}.safetensors`)
          expect(differing(await engine.exportParameters(), theirs, largestDifference, 1e-4), `after step ${step + 1}`).toEqual([])
        }
        expect(engine.version).toBe(version + example.norms.length)
      })

      if (lora !== null) {
        it('the reference adapter stays while the current one moves', async () => {
          await engine.importParameters(initial)
          engine.freezeReference()
          await accumulateLoss(engine, batch, example)
          await engine.optimizerStep({ ...example.optimizer, learning_rate: 0.05 })
          const options = { temperature: example.temperature }
          expectScores(await engine.score(batch, { ...options, adapter: 'reference' }), example.scores, masks)
          const moved = compareScores(await engine.score(batch, options), example.scores, masks)
          expect(moved.logprob).toBeGreaterThan(0.01)
        })
      }
    })
  })
})
