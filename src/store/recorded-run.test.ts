import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { KeptEpisode } from '../core/run-record'
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

  it('tells what base and update make of each token: at first the adapter is the base, at the end it is another', () => {
    const { steps } = readRecordedRun(content())
    const most = (number: number, of: (episode: KeptEpisode) => [readonly number[] | null | undefined, readonly number[] | null | undefined]) =>
      Math.max(...(steps[number - 1]?.episodes ?? []).flatMap((episode) => {
        const [a, b] = of(episode)
        return episode.ids.map((_, i) => Math.abs((a?.[i] ?? Infinity) - (b?.[i] ?? 0)))
      }))
    expect(most(1, ({ baseLogprobs, trainLogprobs }) => [baseLogprobs, trainLogprobs])).toBeLessThan(1e-5)
    expect(most(1, ({ afterLogprobs, trainLogprobs }) => [afterLogprobs, trainLogprobs])).toBeGreaterThan(1e-3)
    expect(most(steps.length, ({ baseLogprobs, trainLogprobs }) => [baseLogprobs, trainLogprobs])).toBeGreaterThan(1)
  })

  it('tells where the time of each step went, within it', () => {
    const { steps, history } = readRecordedRun(content())
    steps.forEach(({ timeline, episodes }, i) => {
      const seconds = history[i]?.seconds as { sampling: number; training: number }
      const end = 1000 * (seconds.sampling + seconds.training) + 50
      expect(timeline?.every((span) => span.start >= 0 && span.start <= span.end && span.end <= end && span.lane >= -1 && span.episode < episodes.length)).toBe(true)
      expect([...new Set(timeline?.map(({ kind }) => kind))]).toEqual(expect.arrayContaining(['prefill', 'sampling', 'training']))
    })
  })

  it('compares base and LoRA after some steps: at step 0 they are one, at the end they are not', () => {
    const { comparisons, history } = readRecordedRun(content())
    for (const { step, base, lora } of comparisons) {
      if (step !== 0) continue
      expect(lora.ids).toEqual(base.ids)
      for (const { logprobs, otherLogprobs } of [base, lora]) logprobs.forEach((value, i) => expect(value).toBeCloseTo(otherLogprobs[i] as number, 5))
    }
    const last = comparisons.filter(({ step }) => step === history.length)
    expect(last.some(({ base, lora }) => base.reward !== lora.reward)).toBe(true)
    for (const { base, lora } of comparisons) {
      expect(base.ids.slice(0, base.promptLength)).toEqual(lora.ids.slice(0, lora.promptLength))
      for (const { ids, texts, authors, mask, logprobs, otherLogprobs, alternatives, turns } of [base, lora]) {
        expect(new Set([ids, texts, authors, mask, logprobs, otherLogprobs, alternatives].map(({ length }) => length)).size).toBe(1)
        expect(turns.at(-1)?.resultEnd).toBe(ids.length)
      }
    }
  })

  it.each<[string, (file: RecordedRunFile) => unknown]>([
    ['of another version', (file) => ({ ...file, version: 1 })],
    ['that is another file', () => ({ hello: 'there' })],
    ['without a step', (file) => ({ ...file, steps: file.steps.slice(1) })],
    ['with a token too many', (file) => (file.steps[0]?.episodes[0]?.ids.push(1), file)],
    ['with a log-prob too few', (file) => (file.steps[3]?.episodes[5]?.logprobs.pop(), file)],
    ['with a token that has no text', (file) => ({ ...file, texts: file.texts.slice(1) })],
    ['with a base log-prob too many', (file) => (file.steps[3]?.episodes[5]?.baseLogprobs.push(0), file)],
    ['with half a timeline', (file) => (file.steps[2]?.timeline?.starts.pop(), file)],
    ['with a comparison cut short', (file) => (file.comparisons[1]?.after[2]?.lora.logprobs.pop(), file)],
    ['with a comparison in unknown tokens', (file) => (file.comparisons[1]?.base.ids.splice(0, 1, 1e6), file)],
    ['with a reward that is no number', (file) => (Object.assign(file.steps[1]?.episodes[1] ?? {}, { reward: 'good' }), file)],
  ])('refuses a file %s', (_, damage) => {
    expect(() => readRecordedRun(damage(content()))).toThrow()
  })
})
