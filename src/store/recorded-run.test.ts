import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { defaultConfig } from './presets'
import { type RecordedRunFile, readRecordedRun } from './recorded-run'
import { RECORDED_RUN_PATH } from './replay-start'

const packed = readFileSync(`public/${RECORDED_RUN_PATH}`)
const content = () => JSON.parse(gunzipSync(packed).toString()) as RecordedRunFile

describe('the recorded run that the site ships', () => {
  it('is of the settings that the page opens with, and small', () => {
    const { run, history, steps } = readRecordedRun(content())
    expect(run.config).toEqual(defaultConfig())
    expect(packed.length).toBeLessThan(1e6)
    expect(history.map(({ step }) => step)).toEqual(steps.map((_, i) => i + 1))
    expect(history.length).toBeGreaterThanOrEqual(10)
  })

  it('holds whole episodes whose numbers agree with its summaries', () => {
    const { run, history, steps } = readRecordedRun(content())
    const { num_generations, prompts_per_step } = run.config.grpo
    steps.forEach(({ episodes }, i) => {
      expect(episodes.map(({ index }) => index)).toEqual(Array.from({ length: num_generations * prompts_per_step }, (_, index) => index))
      const rewards = episodes.map(({ reward }) => reward as number)
      expect(rewards.reduce((a, b) => a + b, 0) / rewards.length).toBeCloseTo(history[i]?.metrics['reward'] as number, 9)
      for (const { ids, texts, mask, authors, logprobs, trainLogprobs, advantage, group, reward, promptLength, turns } of episodes) {
        expect(new Set([ids, texts, mask, authors, logprobs].map((list) => list.length)).size).toBe(1)
        expect(turns[0]?.start).toBe(promptLength)
        expect(turns.at(-1)?.resultEnd).toBe(ids.length)
        mask.forEach((bit, at) => {
          expect(bit === 1).toBe(authors[at] === 'model')
          if (bit === 1) expect(Math.abs((logprobs[at] as number) - (trainLogprobs?.[at] as number))).toBeLessThan(1e-3)
        })
        // Better than the group's mean means an advantage above zero.
        expect(Math.sign(advantage)).toBe(Math.sign((reward as number) - (history[i]?.groups[group]?.mean as number)))
      }
    })
  })

  it.each<[string, (file: RecordedRunFile) => unknown]>([
    ['of another version', (file) => ({ ...file, version: 2 })],
    ['that is another file', () => ({ hello: 'there' })],
    ['without a step', (file) => ({ ...file, steps: file.steps.slice(1) })],
    ['with a token too many', (file) => (file.steps[0]?.episodes[0]?.ids.push(1), file)],
    ['with a log-prob too few', (file) => (file.steps[3]?.episodes[5]?.logprobs.pop(), file)],
    ['with a token that has no text', (file) => ({ ...file, texts: file.texts.slice(1) })],
    ['with a reward that is no number', (file) => (Object.assign(file.steps[1]?.episodes[1] ?? {}, { reward: 'good' }), file)],
  ])('refuses a file %s', (_, damage) => {
    expect(() => readRecordedRun(damage(content()))).toThrow()
  })
})
