/** A step that fails in its middle leaves nothing of itself in the run. */
import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { open } from './testing/open-runner'

/** A run of three steps with two optimizer steps each, tried again after each of those that fail. */
async function trained(failing: readonly number[]) {
  const page = open()
  await page.configure({ max_steps: 3, num_iterations: 2, beta: 0.1 })
  const engine = page.engines[0]!
  const step = engine.optimizerStep.bind(engine)
  let steps = 0
  engine.optimizerStep = (params) => (failing.includes(++steps) ? Promise.reject(new PlaygroundError('non-finite', 'The gradient is not finite.')) : step(params))
  const left: { version: number; finished: number }[] = []
  for (const _ of failing) {
    await page.untilState('failed', { type: 'train' })
    left.push({ version: engine.version, finished: page.records().length })
  }
  await page.untilState('finished', { type: 'train' })
  return { theta: [...engine.theta], version: engine.version, rewards: page.records().map(({ metrics }) => metrics['reward']), left }
}

describe('a step that fails behind its first optimizer step', () => {
  it('takes back what that did: tried again, the run is the undisturbed one', async () => {
    const [plain, failed] = [await trained([]), await trained([4, 6])]
    expect(failed.left).toEqual([{ version: 2, finished: 1 }, { version: 2, finished: 1 }])
    expect([failed.version, failed.rewards]).toEqual([plain.version, plain.rewards])
    // A checkpoint has 32 bits.
    failed.theta.forEach((x, i) => expect(x).toBeCloseTo(plain.theta[i] ?? NaN, 5))
  })

  it('stands at step 0 again where it is the first', async () => {
    const page = open()
    await page.configure({ max_steps: 1, num_iterations: 2 })
    const engine = page.engines[0]!
    const step = engine.optimizerStep.bind(engine)
    engine.optimizerStep = (params) => (engine.version === 1 ? Promise.reject(new PlaygroundError('non-finite', 'The gradient is not finite.')) : step(params))
    await page.untilState('failed', { type: 'train' })
    expect([...engine.theta, engine.version]).toEqual([0, 0, 0, 0, 0])
  })
})
