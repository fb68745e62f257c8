/** The recorded run that the site ships is what the engine does: its first step, trained again with its settings and seed, is the same. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readRecordedRun } from '../../src/store/recorded-run'
import { RECORDED_RUN_PATH } from '../../src/store/replay-start'
import { projectRoot } from '../tools/run-command'
import { trainSteps } from './grpo-run'

it('is the run of its settings and seed', async () => {
  const file = gunzipSync(await readFile(join(projectRoot, 'public', RECORDED_RUN_PATH))).toString()
  const { run, history, steps } = readRecordedRun(JSON.parse(file))
  const [record] = (await trainSteps({ ...run.config, backend: 'wasm' })).records
  const recorded = steps[0]?.episodes ?? []
  expect(recorded.map(({ ids }) => ids)).toEqual(record?.episodes.map(({ ids }) => ids))
  expect(recorded.map(({ reward, exit, seed, advantage }) => ({ reward, exit, seed, advantage }))).toEqual(
    record?.episodes.map(({ reward, exit, seed, advantage }) => ({ reward, exit, seed, advantage })),
  )
  record?.episodes.forEach(({ mask, logprobs, trainLogprobs }, i) => {
    expect(recorded[i]?.mask).toEqual(mask)
    mask.forEach((bit, at) => {
      if (bit === 0) return
      expect(recorded[i]?.logprobs[at]).toBeCloseTo(logprobs[at] as number, 5)
      expect(recorded[i]?.trainLogprobs?.[at]).toBeCloseTo(trainLogprobs?.[at] as number, 5)
    })
  })
  expect(history[0]?.metrics['reward']).toBe(record?.metrics['reward'])
  expect(history[0]?.metrics['grad_norm']).toBeCloseTo(record?.metrics['grad_norm'] as number, 5)
})
