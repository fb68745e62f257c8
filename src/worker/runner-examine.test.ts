/** Examining and comparing beside a run: when they are answered, and that the run's numbers stay the same. */
import { expect, it } from 'vitest'
import { DEFAULT_LORA } from '../core/config'
import type { Command, Message } from './protocol'
import { open } from './testing/open-runner'

type Opened = ReturnType<typeof open>

const isTokens = (m: Message) => m.type === 'event' && m.event.type === 'tokens'
const numbers = (page: Opened) => page.records().map(({ step, episodes, version }) => ({ step, version, ids: episodes.map(({ ids }) => ids), logprobs: episodes.map(({ logprobs }) => logprobs) }))

async function ready() {
  const page = open()
  await page.configure({ max_steps: 3 })
  // The bandit's policy has no LoRA of its own.
  page.engines.forEach((engine) => Object.assign(engine, { lora: DEFAULT_LORA }))
  let requestId = 0
  const ask = async (command: { type: 'examine'; ids: number[] } | { type: 'compare'; temperature?: number }) => {
    requestId++
    const own = requestId
    const sent: Command =
      command.type === 'examine'
        ? { type: 'examine', requestId: own, sequences: [{ ids: command.ids, mask: command.ids.map((_, i) => (i > 2 ? 1 : 0)) }] }
        : { type: 'compare', requestId: own, seed: 7, split: 'train', temperature: command.temperature ?? 0 }
    const said = await page.until((m) => (m.type === 'examined' || m.type === 'compared') && m.requestId === own, sent)
    return said.type === 'examined' || said.type === 'compared' ? said.result : null
  }
  return { ...page, ask }
}

it('a run that is examined and compared between steps and in a pause is the run that is not', async () => {
  const straight = await ready()
  await straight.untilState('finished', { type: 'train' })

  const page = await ready()
  expect(await page.ask({ type: 'compare' })).toMatchObject({ ok: true, comparison: { seed: 7, step: 0 } })
  await page.until(isTokens, { type: 'train' })
  await page.untilState('paused', { type: 'pause' })
  const ids = [1, 2, 3, 4, 5]
  expect(await page.ask({ type: 'examine', ids })).toMatchObject({ ok: true, examinations: [{ version: 0 }] })
  expect(await page.ask({ type: 'compare' })).toMatchObject({ ok: false, error: expect.stringContaining('middle of a step') as string })
  await page.untilState('paused', { type: 'step' })
  expect(await page.ask({ type: 'compare', temperature: 1 })).toMatchObject({ ok: true, comparison: { step: 1 } })
  expect(await page.ask({ type: 'examine', ids })).toMatchObject({ ok: true, examinations: [{ version: 1 }] })
  await page.untilState('finished', { type: 'train' })
  expect(numbers(page)).toEqual(numbers(straight))
})

it('while a step is computed both are refused at once', async () => {
  const page = await ready()
  await page.until(isTokens, { type: 'train' })
  expect(await page.ask({ type: 'examine', ids: [1, 2, 3, 4] })).toMatchObject({ ok: false, error: expect.stringContaining('Press Pause first') as string })
  expect(await page.ask({ type: 'compare' })).toMatchObject({ ok: false, error: expect.stringContaining('Press Pause first') as string })
  await page.untilState('finished')
})

it('a comparison gives way to Train', async () => {
  const page = await ready()
  const answer = page.ask({ type: 'compare' })
  page.runner.handle({ type: 'train' })
  expect(await answer).toMatchObject({ ok: false, error: expect.stringContaining('something else needed the model') as string })
  await page.untilState('finished')
})

it('an evaluation can be ended, by itself or with its run, and the run goes on as if it had not been', async () => {
  const straight = await ready()
  await straight.untilState('finished', { type: 'train' })

  const page = await ready()
  await page.untilState('paused', { type: 'step' })
  const isProgress = (m: Message) => m.type === 'event' && m.event.type === 'evaluation' && m.event.done > 0
  const isEnd = (m: Message) => m.type === 'evaluation' || m.type === 'evaluation-failed'
  for (const how of [{}, { base: true as const }]) {
    await page.until(isProgress, { type: 'evaluate', requestId: 1, episodes: 2000, ...how })
    expect(await page.until(isEnd, { type: 'evaluate-stop' })).toEqual({ type: 'evaluation-failed', requestId: 1, error: 'The evaluation was stopped.' })
  }
  // The next one is not stopped by that, and what is trained waits for it.
  page.runner.handle({ type: 'evaluate', requestId: 2, episodes: 4 })
  await page.untilState('finished', { type: 'train' })
  expect(page.messages.filter(isEnd).at(-1)).toMatchObject({ type: 'evaluation', requestId: 2 })
  expect(numbers(page)).toEqual(numbers(straight))

  await page.until(isProgress, { type: 'evaluate', requestId: 3, episodes: 2000 })
  await page.untilState('ready', { type: 'reset' })
  expect(page.messages.filter(isEnd).at(-1)).toMatchObject({ type: 'evaluation-failed', requestId: 3 })
})
