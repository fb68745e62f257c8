/** A run that samples ahead, as a page drives it: pauses, grains, evaluations and a reset leave it as it is; a kept one samples its batch anew. */
import 'fake-indexeddb/auto'
import { expect, it } from 'vitest'
import type { GrpoConfig } from '../core/config'
import type { BanditOptions } from '../train/testing/bandit'
import { RunArchive } from './archive'
import type { Grain, Message } from './protocol'
import { open as openRunner } from './testing/open-runner'

const AHEAD: Partial<GrpoConfig> = { max_staleness: 1, max_steps: 4 }
const SLOW: BanditOptions = { delay: (session) => 2 + (session % 3) }

let count = 0
const open = (options = SLOW, archive: RunArchive | null = null) => openRunner(options, archive && (async () => archive))
type Opened = ReturnType<typeof open>
const numbers = (page: Opened) =>
  page.records().map(({ step, episodes, version, metrics }) => ({ step, version, staleness: metrics['sampling/staleness'], loss: metrics['loss'], episodes: episodes.map(({ ids, reward, advantage, logprobs }) => ({ ids, reward, advantage, logprobs })) }))
const theta = (page: Opened) => [...(page.engines.at(-1)?.theta ?? [])]
const rests = (m: Message) => m.type === 'state' && m.state.state !== 'running' && m.state.state !== 'pausing'

async function straight(grpo: Partial<GrpoConfig> = {}, options?: BanditOptions) {
  const page = open(options)
  await page.configure({ ...AHEAD, ...grpo })
  await page.untilState('finished', { type: 'train' })
  return page
}

it('is the same by grains, through pauses in the middle of an update, with evaluations, and after a reset', async () => {
  const whole = await straight()
  expect(numbers(whole).map(({ step, staleness }) => [step, staleness])).toEqual([[1, 0], [2, 1], [3, 1], [4, 1]])

  for (const grain of ['token', 'episode', 'step'] as Grain[]) {
    const page = open()
    await page.configure(AHEAD)
    for (let presses = 0; page.states().at(-1)?.state !== 'finished'; presses++) {
      expect(presses).toBeLessThan(500)
      await page.until(rests, { type: 'step', grain })
    }
    expect(numbers(page)).toEqual(numbers(whole))
    expect(theta(page)).toEqual(theta(whole))
  }

  const paused = open()
  await paused.configure(AHEAD)
  await paused.until((m) => m.type === 'event' && m.event.type === 'training' && m.event.step === 2, { type: 'train' })
  expect(await paused.untilState('paused', { type: 'pause' })).toMatchObject({ state: 'paused', step: 1 })
  const at = paused.messages.length
  await new Promise((resolve) => setTimeout(resolve, 40))
  expect(paused.messages.slice(at).filter((m) => m.type === 'event' && (m.event.type === 'tokens' || m.event.type === 'training'))).toEqual([])
  await paused.untilState('finished', { type: 'train' })
  expect(numbers(paused)).toEqual(numbers(whole))

  const measured = await straight({ eval_strategy: 'steps', eval_steps: 1, eval_episodes: 4 })
  expect(numbers(measured)).toEqual(numbers(whole))
  expect(measured.messages.filter((m) => m.type === 'event' && m.event.type === 'evaluated')).toHaveLength(5)

  // In the middle of the first update: the stand-in for an engine forgets no moments at a reset.
  const begun = open()
  await begun.configure(AHEAD)
  await begun.until((m) => m.type === 'event' && m.event.type === 'episode-finished' && m.event.episode.step === 2, { type: 'train' })
  await begun.untilState('ready', { type: 'reset' })
  const from = begun.records().length
  await begun.untilState('finished', { type: 'train' })
  expect(numbers(begun).slice(from)).toEqual(numbers(whole))
})

it('that is kept goes on from its last step, samples that batch anew, and says so', async () => {
  const archive = await RunArchive.open(`ahead-${++count}`)
  const first = open(SLOW, archive)
  await first.configure(AHEAD)
  for (let i = 0; i < 2; i++) await first.untilState('paused', { type: 'step' })
  const second = open(SLOW, archive)
  const said = second.until((m) => m.type === 'event' && m.event.type === 'notice' && m.event.text.includes('for step 3 ahead of its turn'))
  second.resume((await archive.list())[0]?.id ?? '')
  await said
  await second.untilState('finished', { type: 'train' })
  expect(numbers(second).map(({ step, staleness }) => [step, staleness])).toEqual([[3, 0], [4, 1]])
})

it('is refused with settings that do not go with it, in a sentence', async () => {
  const page = open()
  const state = await page.untilState('failed', { type: 'configure', config: { ...(await configOf(page)), grpo: { ...(await configOf(page)).grpo, num_iterations: 2 } } })
  expect(state).toMatchObject({ error: expect.stringMatching(/^max_staleness 1 samples .* num_iterations is 2/) as string })
})

async function configOf(page: Opened) {
  const { banditConfig } = await import('../train/testing/bandit')
  expect(page.prepared).toEqual([])
  return banditConfig(AHEAD)
}
