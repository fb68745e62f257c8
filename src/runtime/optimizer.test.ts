/** The host's optimizer against its twin, onnxruntime's graphs. */

import { describe, expect, it } from 'vitest'
import { CHUNK } from '../artifacts/optimizer'
import { RandomStream } from '../core/random'
import { parseModelConfig } from '../model/config'
import { type Cell, hostFloats } from './device'
import { type AdamScalars, GraphOptimizer, HostOptimizer } from './optimizer'
import { loadOrt } from './ort'
import type { Parameters } from './parameters'
import { Sessions } from './sessions'
import { CONFIG, LORA } from './testing/random-model'
import { WasmDevice } from './wasm-device'

const SIZE = 5 * CHUNK
const device = new WasmDevice(() => loadOrt('wasm', 1), 1)
const sessions = new Sessions(device, { config: parseModelConfig(CONFIG), lora: LORA, precision: 'float32' })

/** Flat vectors, the second moments not negative; many values are tiny, some are zero. */
function vectors(): Pick<Parameters, 'flat' | 'm' | 'v' | 'sum' | 'part'> {
  const random = new RandomStream(3)
  const filled = (size: number, square = false) => {
    const values = Float32Array.from({ length: SIZE }, () => (random.next() < 0.1 ? 0 : size * random.normal() * 10 ** -random.int(12)))
    return device.upload(square ? values.map((x) => x * x) : values, [SIZE])
  }
  const cell = (size: number, square = false): Cell => ({ value: filled(size, square) })
  return { flat: cell(0.2), m: cell(0.01), v: cell(0.01, true), sum: cell(3), part: filled(2) }
}

const scalars = (t: number): AdamScalars => ({
  clip: 0.37,
  decay: 1 - 2e-3 * 0.1,
  beta1: 0.9,
  one_minus_beta1: 1 - 0.9,
  beta2: 0.999,
  one_minus_beta2: 1 - 0.999,
  step_size: 2e-3 / (1 - 0.9 ** t),
  bias2: Math.sqrt(1 - 0.999 ** t),
  epsilon: 1e-8,
})

describe('ten steps', () => {
  it('are the graphs’ own, bit for bit', async () => {
    const [ours, theirs] = [vectors(), vectors()]
    const start = hostFloats(ours.flat.value).slice()
    const host = new HostOptimizer(ours)
    const graph = new GraphOptimizer({ device, sessions, parameters: theirs as Parameters })
    for (let t = 1; t <= 10; t++) {
      for (const optimizer of [host, graph]) {
        await optimizer.accumulate()
        await optimizer.step(scalars(t))
      }
    }
    for (const name of ['flat', 'm', 'v', 'sum'] as const) expect(hostFloats(ours[name].value), name).toEqual(hostFloats(theirs[name].value))
    expect(hostFloats(ours.flat.value)).not.toEqual(start)
  })

  it('are clipped by the same norm', async () => {
    const parameters = vectors()
    const [ours, theirs] = [await new HostOptimizer(parameters).sumOfSquares(), await new GraphOptimizer({ device, sessions, parameters: parameters as Parameters }).sumOfSquares()]
    expect(ours).toBeGreaterThan(0)
    expect(Math.abs(ours / theirs - 1)).toBeLessThan(1e-6)
  })
})
