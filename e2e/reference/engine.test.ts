/** Log-probs, entropies, gradients and AdamW of our engine against PyTorch float64, transformers and PEFT. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine, NamedTensor, SequenceScores } from '../../src/core/engine'
import { readGradients } from '../../src/runtime/testing/gradients'
import { accumulateLoss, modelCases, models, referenceEngine, type ListedScores } from './engine-case'
import { largestDifference, referenceTensors, relativeDifference } from './reference'

/** Largest differences over the trained tokens; 0 is demanded elsewhere. */
function compareScores(ours: SequenceScores[], theirs: ListedScores[], masks: readonly (readonly number[])[]) {
  let logprob = 0
  let entropy = 0
  const argmax: string[] = []
  expect(ours.length).toBe(theirs.length)
  masks.forEach((mask, s) => {
    const [own, other] = [ours[s] as SequenceScores, theirs[s] as ListedScores]
    const masked = (values: ArrayLike<number>) => mask.map((m, t) => (m ? (values[t] as number) : 0))
    expect(own.logprobs.length).toBe(mask.length)
    logprob = Math.max(logprob, largestDifference(own.logprobs, masked(other.logprobs)))
    entropy = Math.max(entropy, largestDifference(own.entropies, masked(other.entropies)))
    mask.forEach((m, t) => {
      const expected = m ? other.argmax[t] : -1
      if (own.argmax[t] !== expected) argmax.push(`sequence ${s} token ${t}: ${own.argmax[t]}, not ${expected}`)
    })
  })
  return { logprob, entropy, argmax }
}

function expectScores(ours: SequenceScores[], theirs: ListedScores[], masks: readonly (readonly number[])[]): void {
  const { logprob, entropy, argmax } = compareScores(ours, theirs, masks)
  expect(logprob).toBeLessThan(1e-4)
  expect(entropy).toBeLessThan(1e-4)
  expect(argmax).toEqual([])
}

const signature = ({ name, dims }: NamedTensor) => `${name} [${dims.join(', ')}]`

/** Names of tensors that differ by `tolerance` or more under `measure`, with the measure; empty when all agree. */
function differing(
  ours: readonly NamedTensor[],
  theirs: readonly NamedTensor[],
  measure: (a: ArrayLike<number>, b: ArrayLike<number>) => number,
  tolerance: number,
): string[] {
  expect(ours.map(signature).sort()).toEqual(theirs.map(signature).sort())
  const byName = new Map(theirs.map((tensor) => [tensor.name, tensor.data]))
  return ours.flatMap(({ name, data }) => {
    const value = measure(data, byName.get(name) ?? [])
    return value < tolerance ? [] : [`${name}: ${value}`]
  })
}

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
