/** Sampling from a vocabulary that takes the two-level and one-by-one ways, against a plain computation of the same distribution. */

import { expect, it } from 'vitest'
import { buildArtifact } from '../artifacts/build'
import { DEFAULT_LORA } from '../core/config'
import { RandomStream } from '../core/random'
import { CONFIG } from '../runtime/testing/random-model'
import { runnable } from '../runtime/testing/run-graph'
import { parseModelConfig } from './config'

const VOCAB = 5003
const ROWS = 4

it('draws by the inverse CDF and names the five likeliest tokens of a large vocabulary', async () => {
  const config = parseModelConfig({ ...CONFIG, vocab_size: VOCAB })
  const hidden = config.hidden_size
  const random = new RandomStream(3)
  const normal = (n: number, size: number): Float32Array => Float32Array.from({ length: n }, () => size * random.normal())
  const [x, table] = [normal(ROWS * hidden, 1), normal(VOCAB * hidden, 0.3)]
  // Two words that are equal everywhere: the first counts as the likelier.
  table.copyWithin(4000 * hidden, 17 * hidden, 18 * hidden)
  const uniform = Float32Array.of(0, 0.3, 0.71, 0.999)
  const session = await runnable(buildArtifact({ config, lora: DEFAULT_LORA, precision: 'float32' }, 'head_sample'))
  const feeds = { x, norm: new Float32Array(hidden).fill(1), table, inverse_temperature: Float32Array.of(1), uniform }
  const out = await session.run(feeds, { x: [ROWS, hidden], uniform: [ROWS], inverse_temperature: [] })
  for (let row = 0; row < ROWS; row++) {
    const part = Array.from(x.subarray(row * hidden, (row + 1) * hidden))
    const scale = 1 / Math.sqrt(part.reduce((sum, v) => sum + v * v, 0) / hidden + config.rms_norm_eps)
    const logits = Array.from({ length: VOCAB }, (_, id) => part.reduce((sum, v, k) => sum + v * scale * (table[id * hidden + k] as number), 0))
    const top = Math.max(...logits)
    const weights = logits.map((z) => Math.exp(z - top))
    const total = weights.reduce((a, b) => a + b, 0)
    const probs = weights.map((w) => w / total)
    const best = probs.map((p, id) => ({ p, id })).sort((a, b) => b.p - a.p || a.id - b.id).slice(0, 5)
    expect(Array.from({ length: 5 }, (_, k) => Number(out.top_id?.data[row * 5 + k]))).toEqual(best.map(({ id }) => id))
    best.forEach(({ p }, k) => expect(Number(out.top_prob?.data[row * 5 + k]) / p).toBeCloseTo(1, 4))
    const chosen = Number(out.choice?.data[row])
    const before = probs.slice(0, chosen).reduce((a, b) => a + b, 0)
    expect(uniform[row] as number).toBeGreaterThanOrEqual(before - 1e-5)
    expect(uniform[row] as number).toBeLessThan(before + (probs[chosen] as number) + 1e-5)
    expect(Number(out.logprob?.data[row])).toBeCloseTo(Math.log(probs[chosen] as number), 4)
  }
  await session.release()
})
