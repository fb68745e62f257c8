/** The recorded run that the site ships is what the engine does: its first step, trained again with its settings and seed, is the same. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { builtinEnvironment } from '../../src/env/builtin'
import { readRecordedRun } from '../../src/store/recorded-run'
import { RECORDED_RUN_PATH } from '../../src/store/replay-start'
import { GrpoTrainer } from '../../src/train/grpo'
import { comparePolicies } from '../../src/worker/compare-policies'
import { examine } from '../../src/worker/examine'
import { projectRoot } from '../tools/run-command'
import { tinyChat, tinyEngine } from './grpo-run'

it('is the run of its settings and seed', async () => {
  const file = gunzipSync(await readFile(join(projectRoot, 'public', RECORDED_RUN_PATH))).toString()
  const { run, history, steps, comparisons } = readRecordedRun(JSON.parse(file))
  const { config } = run
  const environment = builtinEnvironment('lane')
  await environment.connect()
  // It was recorded on onnxruntime's graphs, whose sums round otherwise than our kernels'; one AdamW step makes 6e-5 of it.
  const [engine, chat] = [await tinyEngine(config, undefined, false), await tinyChat()]
  try {
    const trainer = new GrpoTrainer({ config, engine, environment, chat, onEvent: () => undefined })
    const wanted = comparisons.find(({ step, temperature }) => step === 0 && temperature > 0)
    if (!wanted) throw new Error('There is no sampled comparison before the first step.')
    const compared = await comparePolicies({ config, engine, environment, chat, trainer }, wanted, () => undefined)
    expect(compared.lora.ids).toEqual(wanted.lora.ids)
    expectClose(wanted.lora.mask, wanted.lora.otherLogprobs, compared.lora.otherLogprobs)

    const record = await trainer.step()
    const recorded = steps[0]?.episodes ?? []
    expect(recorded.map(({ ids }) => ids)).toEqual(record.episodes.map(({ ids }) => ids))
    expect(recorded.map(({ reward, exit, seed, advantage }) => ({ reward, exit, seed, advantage }))).toEqual(
      record.episodes.map(({ reward, exit, seed, advantage }) => ({ reward, exit, seed, advantage })),
    )
    expect(recorded.map(({ mask }) => mask)).toEqual(record.episodes.map(({ mask }) => mask))
    const examined = await examine(engine, record.episodes, config.grpo.temperature)
    record.episodes.forEach(({ mask, logprobs, trainLogprobs }, i) => {
      expectClose(mask, recorded[i]?.logprobs, logprobs)
      expectClose(mask, recorded[i]?.trainLogprobs, trainLogprobs)
      expectClose(mask, recorded[i]?.baseLogprobs, examined[i]?.baseLogprobs)
      expectClose(mask, recorded[i]?.afterLogprobs, examined[i]?.logprobs)
    })
    expect(history[0]?.metrics['reward']).toBe(record.metrics['reward'])
    expect(history[0]?.metrics['grad_norm']).toBeCloseTo(record.metrics['grad_norm'] as number, 5)
  } finally {
    await engine.dispose()
  }
})

/** Equal to the fifth place where the model wrote. */
function expectClose(mask: readonly number[], actual: readonly number[] | null | undefined, expected: readonly number[] | null | undefined) {
  mask.forEach((bit, at) => {
    if (bit === 1) expect(actual?.[at]).toBeCloseTo(expected?.[at] as number, 5)
  })
}
