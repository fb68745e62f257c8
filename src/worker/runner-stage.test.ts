/** Stages beside a run: what they change, when they are refused, and that the run is kept and goes on from them. */
import 'fake-indexeddb/auto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Hub, startHub } from '../../e2e/hub/server'
import { DEFAULT_LORA } from '../core/config'
import { DEFAULT_STAGE, type StageKind, type StageSettings } from '../core/stage'
import type { Episode } from '../core/episode'
import { HubClient } from '../hub/client'
import { RunArchive } from './archive'
import type { Command, Message, StageDataset } from './protocol'
import type { StageMaterial } from './stage-desk'
import { open as openRunner } from './testing/open-runner'

let count = 0
let archive: RunArchive
beforeEach(async () => {
  archive = await RunArchive.open(`stages-${++count}`)
})

const user = { role: 'user', content: 'Pull.' }
const pull = (arm: string) => ({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name: 'pull', arguments: { arm } } }] })
const jsonl = (...rows: unknown[]) => ({ name: 'pasted', text: rows.map((row) => JSON.stringify(row)).join('\n') })
const SFT = jsonl(...Array.from({ length: 5 }, () => ({ prompt: [user], completion: [pull('C')] })))
const DPO = jsonl({ prompt: [user], chosen: [pull('A')], rejected: [pull('C')] })
const stage = (kind: StageKind, change: Partial<StageSettings> = {}, dataset: StageDataset = kind === 'sft' ? SFT : DPO): Extract<Command, { type: 'stage' }> => ({
  type: 'stage',
  kind,
  dataset,
  settings: { ...DEFAULT_STAGE[kind], learning_rate: 0.1, per_device_train_batch_size: 2, num_train_epochs: 2, ...change },
})

async function loaded(max_steps = 3, material: StageMaterial | null = null) {
  const page = openRunner({}, async () => archive, undefined, material)
  await page.configure({ max_steps })
  // The bandit's policy has no LoRA of its own.
  page.engines.forEach((engine) => Object.assign(engine, { lora: DEFAULT_LORA }))
  return withStages(page)
}

function withStages(page: ReturnType<typeof openRunner>) {
  const isEnd = (m: Message) => m.type === 'stage-state' && m.state.state === 'ended'
  const run = async (command: Command) => {
    const end = await page.until(isEnd, command)
    return end.type === 'stage-state' ? end.state : null
  }
  const progress = () => page.messages.flatMap((m) => (m.type === 'stage-progress' ? [m] : []))
  const stages = () => page.messages.flatMap((m) => (m.type === 'stages' ? [m.stages] : [])).at(-1) ?? []
  const engine = () => page.engines.at(-1)!
  return { ...page, run, progress, stages, engine }
}

it('data are looked at before anything is trained', async () => {
  const page = await loaded()
  const { type: _, ...rest } = stage('sft', {}, jsonl(JSON.parse(SFT.text.split('\n')[0] ?? ''), { prompt: 1 }, { chosen: 'a', rejected: 'b', prompt: 'c' }))
  const said = await page.until((m) => m.type === 'stage-looked', { type: 'stage-look', requestId: 4, ...rest, from: 0, count: 5 })
  expect(said).toMatchObject({ requestId: 4, result: { ok: true, look: { rows: 1, steps: 2, problems: { count: 2 }, dropped: { count: 0 }, from: 0 } } })
  const look = said.type === 'stage-looked' && said.result.ok ? said.result.look : null
  expect(look?.problems.first[0]).toBe('Line 2, completion: There is a prompt and no answer to it. Add "completion" for SFT, or "chosen" and "rejected" for DPO.')
  const tokens = look?.examples[0]?.parts[0]?.tokens ?? []
  expect(tokens.filter(({ target }) => target).map(({ text }) => text).join('')).toBe('<tool_call>\n{"name": "pull", "arguments": {"arm": "C"}}\n</tool_call><|im_end|>\n')
  expect(look?.targets).toBe(tokens.filter(({ target }) => target).length)
  expect(page.engine().version).toBe(0)
  const file = new File([SFT.text], 'a.jsonl')
  const again = await page.until((m) => m.type === 'stage-looked', { type: 'stage-look', requestId: 5, ...rest, dataset: { name: 'a.jsonl', file }, from: 3, count: 9 })
  expect(again).toMatchObject({ result: { ok: true, look: { rows: 5, from: 3, examples: [{ place: 'line 4' }, { place: 'line 5' }] } } })
})

describe('a stage', () => {
  it('trains epoch by epoch with TRL’s metrics, and GRPO goes on from its adapter', async () => {
    const page = await loaded()
    expect(await page.run(stage('sft'))).toEqual({ state: 'ended', steps: 6, error: '' })
    const all = page.progress()
    expect(all.map(({ step, steps, metrics }) => [step, steps, metrics['epoch']])).toEqual([1, 2, 3, 4, 5, 6].map((n) => [n, 6, n / 3]))
    for (const name of ['loss', 'mean_token_accuracy', 'entropy', 'num_tokens', 'grad_norm', 'learning_rate']) expect(all[0]?.metrics).toHaveProperty(name)
    expect(all[5]!.metrics['loss']!).toBeLessThan(all[0]!.metrics['loss']!)
    expect(all[5]!.metrics['num_tokens']).toBe(5 * all[2]!.metrics['num_tokens']! / 2.5)
    const probabilities = page.engine().probabilities()
    expect(probabilities[2]).toBeGreaterThan(0.4)
    expect(page.stages()).toMatchObject([{ kind: 'sft', dataset: 'pasted', rows: 5, steps: 6, afterStep: 0 }])
    await page.untilState('paused', { type: 'step' })
    expect(page.records()[0]?.step).toBe(1)
  })

  it('of preferences begins at ln 2, and its reference is the adapter that the stage before it made', async () => {
    const page = await loaded()
    await page.run(stage('sft'))
    await page.run(stage('dpo', { max_steps: 4 }))
    const [first, , , last] = page.progress().slice(6)
    expect(first?.metrics).toMatchObject({ 'rewards/margins': 0, 'rewards/accuracies': 0 })
    expect(first?.metrics['loss']).toBeCloseTo(Math.LN2, 12)
    expect(last?.metrics['rewards/margins']).toBeGreaterThan(0)
    expect(page.stages().map(({ kind, steps }) => [kind, steps])).toEqual([['sft', 6], ['dpo', 4]])
  })

  it('trains all weights where there is no LoRA; DPO scores its pairs before the first step', async () => {
    const page = await loaded()
    const trained = async (lora: typeof DEFAULT_LORA | null) => {
      Object.assign(page.engine(), { lora })
      await page.untilState('ready', { type: 'reset' })
      const at = page.progress().length
      await page.run(stage('sft'))
      await page.run(stage('dpo', { max_steps: 4, per_device_train_batch_size: 1 }, jsonl(...DPO.text.split('\n').map((line) => JSON.parse(line) as unknown), { prompt: [user], chosen: [pull('B')], rejected: [pull('C')] })))
      return { metrics: page.progress().slice(at), theta: [...page.engine().theta] }
    }
    expect(await trained(null)).toEqual(await trained(DEFAULT_LORA))
    const scored = page.messages.flatMap((m) => (m.type === 'stage-state' && m.state.state === 'scoring' ? [m.state] : []))
    expect(scored).toEqual([0, 1].map((batches) => ({ state: 'scoring', batches, of: 2 })))
  })

  it('pauses and stops between two steps, and keeps what was trained', async () => {
    const page = await loaded()
    const isStep = (n: number) => (m: Message) => m.type === 'stage-progress' && m.step === n
    await page.until(isStep(1), stage('sft', { max_steps: 500 }))
    await page.until((m) => m.type === 'stage-state' && m.state.state === 'paused', { type: 'stage-control', do: 'pause' })
    const at = page.progress().length
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(page.progress()).toHaveLength(at)
    // Meanwhile Train is refused, with a reason.
    page.runner.handle({ type: 'train' })
    await page.until((m) => m.type === 'event' && m.event.type === 'notice')
    expect(page.states().at(-1)?.state).toBe('ready')
    await page.until(isStep(at + 2), { type: 'stage-control', do: 'go-on' })
    const end = await page.run({ type: 'stage-control', do: 'stop' })
    expect(end).toMatchObject({ state: 'ended', error: '' })
    expect(page.stages()).toMatchObject([{ steps: page.progress().length }])
    expect(page.progress().length).toBeLessThan(500)
  })

  it('says what is wrong and changes nothing', async () => {
    const page = await loaded()
    expect(await page.run(stage('sft', {}, jsonl({ a: 1 })))).toMatchObject({ steps: 0, error: expect.stringContaining('No row is left') as string })
    expect(await page.run(stage('dpo', { label_smoothing: 0.5 }))).toMatchObject({ error: 'label_smoothing must be from 0 to below 0.5; it is 0.5.' })
    page.engine().corrupt = (row) => row.fill(NaN)
    expect(await page.run(stage('sft'))).toMatchObject({ steps: 0, error: expect.stringContaining('log-probability') as string })
    page.engine().corrupt = null
    await page.until((m) => m.type === 'event' && m.event.type === 'tokens', { type: 'train' })
    expect(await page.run(stage('sft'))).toMatchObject({ error: expect.stringContaining('Press Pause first') as string })
    expect(page.stages()).toEqual([])
    await page.untilState('finished')
    expect(await archive.list()).toMatchObject([{ step: 3 }])
    expect((await archive.list())[0]).not.toHaveProperty('stages')
  })

  describe.each(['sft', 'dpo'] as const)('of %s that ends before its first step is done', (kind) => {
    const GRPO = { max_steps: 4, beta: 0.2, seed: 3 }
    /** Two steps, perhaps with a stage that was trained between them. */
    const begun = async (staged: boolean) => {
      const page = await loaded()
      await page.configure(GRPO)
      await page.untilState('paused', { type: 'step' })
      if (staged) await page.run(stage('sft', { max_steps: 2 }))
      await page.untilState('paused', { type: 'step' })
      const sequence = page.records()[0]!.episodes[0]!
      const stands = async () => ({ ...(await page.engine().exportState()), reference: (await page.engine().score([sequence], { temperature: 1, adapter: 'reference' }))[0] })
      return { ...page, stands }
    }
    const rest = async (page: Awaited<ReturnType<typeof begun>>) => {
      await page.untilState('finished', { type: 'train' })
      return page.records().map(({ metrics: { kl, loss, grad_norm } }) => [kl, loss, grad_norm].map((value) => value?.toFixed(5)))
    }

    it.each<[boolean, string]>([[false, 'stopped'], [true, 'stopped'], [false, 'not finite']])('leaves no trace (after another stage: %s, %s)', async (staged, how) => {
      const page = await begun(staged)
      const engine = page.engine()
      const before = await page.stands()
      expect(before.reference?.logprobs).not.toEqual((await engine.score([page.records()[0]!.episodes[0]!], { temperature: 1 }))[0]?.logprobs)
      const { accumulate } = engine
      engine.accumulate = (...all) => {
        if (how === 'stopped') page.runner.handle({ type: 'stage-control', do: 'stop' })
        return accumulate.apply(engine, all)
      }
      if (how === 'not finite') engine.corrupt = (row) => row.fill(NaN)
      expect(await page.run(stage(kind))).toMatchObject({ steps: 0, error: how === 'stopped' ? '' : expect.stringContaining('log-probability') as string })
      engine.accumulate = accumulate
      engine.corrupt = null
      expect(await page.stands()).toEqual(before)
      expect(await rest(page)).toEqual(await rest(await begun(staged)))
    })
  })

  it('does not go on to every weight, nor from there to a LoRA', async () => {
    const page = await loaded()
    const notices = () => page.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'notice' ? [m.event.text] : []))
    for (const change of [{ use_peft: false as const }, {}]) {
      await page.run(stage('sft'))
      await page.configure({}, change)
      expect(page.stages()).toEqual([])
      expect(notices().at(-1)).toBe('A new run has begun, without the stages of the one before (SFT 6 steps).')
    }
    expect(notices()).toHaveLength(2)
  })

  it('goes on into a run with other settings, and not to another LoRA', async () => {
    const page = await loaded()
    await page.run(stage('sft'))
    const before = [...page.engine().theta]
    await page.configure({ max_steps: 2, beta: 0.1 })
    expect([...page.engine().theta]).toEqual(before.map(Math.fround))
    expect(page.stages()).toMatchObject([{ kind: 'sft', steps: 6 }])
    await page.untilState('finished', { type: 'train' })
    expect((await archive.list()).map(({ step, stages }) => [step, stages?.length])).toContainEqual([2, 1])
    await page.configure({ max_steps: 2 })
    expect(page.stages()).toEqual([])
    const notices = page.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'notice' ? [m.event.text] : []))
    expect(notices).toContain('The run with the new settings goes on from the stages that were trained (SFT 6 steps). Reset undoes them.')
    expect(notices).toContain('A new run has begun, without the stages of the one before (SFT 6 steps).')
  })

  it('of episodes just played: pairs of better and worse ones', async () => {
    const page = await loaded(9)
    const rows = (kind: StageKind, least = 1) => page.until((m) => m.type === 'stage-rows', { type: 'stage-rows', requestId: 1, kind, least })
    expect(await rows('sft')).toMatchObject({ result: { ok: false, error: expect.stringContaining('Press Train') as string } })
    await page.untilState('paused', { type: 'step' })
    const good = await rows('sft')
    if (good.type !== 'stage-rows' || !good.result.ok) throw new Error('no rows')
    expect(good.result.rows).toBe(page.records()[0]?.episodes.filter(({ reward }) => reward === 1).length)
    const pairs = await rows('dpo')
    if (pairs.type !== 'stage-rows' || !pairs.result.ok) throw new Error('no pairs')
    const b = page.engine().probabilities()[1]!
    expect(await page.run(stage('dpo', {}, { name: pairs.result.name, text: pairs.result.text }))).toMatchObject({ error: '' })
    expect(page.engine().probabilities()[1]).toBeGreaterThan(b)
    expect(await rows('sft', 7)).toMatchObject({ result: { ok: false, error: 'No episode of step 1 has a reward of 7 or more; the best has 1. Lower the reward, or take another step.' } })
  })

  it('of an episode that a person played: its messages and tools, whatever its reward', async () => {
    const episode = { messages: [user, pull('B')], reward: 0 } as unknown as Episode
    let played: ReturnType<StageMaterial['played']> = null
    const page = await loaded(3, { hub: new HubClient(), played: () => played })
    const ask = () => page.until((m) => m.type === 'stage-rows', { type: 'stage-play', requestId: 1 })
    expect(await ask()).toMatchObject({ result: { ok: false, error: expect.stringContaining('No episode of yours') as string } })
    const tool = { type: 'function' as const, function: { name: 'pull', description: '', parameters: {} } }
    played = { episode, tools: [tool], enable_thinking: false }
    const row = await ask()
    if (row.type !== 'stage-rows' || !row.result.ok) throw new Error('no row')
    expect(JSON.parse(row.result.text)).toEqual({ messages: episode.messages, tools: [tool], chat_template_kwargs: { enable_thinking: false } })
    const b = page.engine().probabilities()[1]!
    await page.run(stage('sft', {}, { name: row.result.name, text: row.result.text }))
    expect(page.engine().probabilities()[1]).toBeGreaterThan(b)
  })

  it('is undone by Reset', async () => {
    const page = await loaded()
    await page.run(stage('sft'))
    await page.untilState('ready', { type: 'reset' })
    expect(page.stages()).toEqual([])
    expect([...page.engine().theta]).toEqual([0, 0, 0, 0])
  })
})

describe('a dataset of the Hub', () => {
  let hub: Hub
  beforeAll(async () => {
    const lines = (...rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n')
    hub = await startHub({
      repos: {
        'datasets/me/pulls': { files: { 'train.jsonl': SFT.text, 'test.jsonl': lines({ prompt: [user], completion: [pull('A')] }) } },
        'datasets/me/questions': { files: { 'train.jsonl': lines({ question: 'a', answer: 'b' }) } },
      },
    })
  })
  afterAll(() => hub.stop())
  const dataset = (repo: string, split: string | null = null) => ({ name: repo, hub: { repo, revision: 'main', config: null, split, file: null } })
  const withHub = () => loaded(3, { hub: new HubClient({ endpoint: hub.endpoint, sleep: async () => undefined }), played: () => null })
  const look = async (page: Awaited<ReturnType<typeof loaded>>, of: StageDataset, kind: StageKind = 'sft') => {
    const { type: _, ...rest } = stage(kind, {}, of)
    const said = await page.until((m) => m.type === 'stage-looked', { type: 'stage-look', requestId: 4, ...rest, from: 0, count: 5 })
    return said.type === 'stage-looked' ? said.result : null
  }

  it('is read once, shown with what else can be chosen, trained on, and kept with its commit', async () => {
    const page = await withHub()
    const sha = hub.sha('datasets/me/pulls')
    const hubPart = { repo: 'me/pulls', revision: 'main', sha, config: 'default', split: 'train' }
    expect(await look(page, dataset('me/pulls'))).toMatchObject({ ok: true, look: { rows: 5, hub: { ...hubPart, choices: [{ splits: ['test', 'train'] }], more: false } } })
    const before = hub.requests.length
    await page.run(stage('sft', {}, dataset('me/pulls')))
    expect(hub.requests).toHaveLength(before)
    expect(page.stages()).toMatchObject([{ dataset: 'me/pulls', source: hubPart, rows: 5 }])
    expect(await archive.list()).toMatchObject([{ stages: [{ source: hubPart }] }])
    expect(await look(page, dataset('me/pulls', 'test'))).toMatchObject({ look: { rows: 1, hub: { split: 'test' } } })
  })

  it('that is not there, or is of another kind, is refused in a sentence, and asked for again next time', async () => {
    const page = await withHub()
    expect(await look(page, dataset('me/questions'))).toMatchObject({ error: 'me/questions, split train, has the columns "question", "answer". SFT needs "messages", or "prompt" and "completion", or "text". Choose another dataset, config or split.' })
    expect(await look(page, dataset('me/pulls'), 'dpo')).toMatchObject({ error: expect.stringContaining('DPO needs "chosen" and "rejected"') as string })
    hub.fault({ kind: 'status', status: 404, on: 'me/pulls/revision' })
    expect(await look(page, dataset('me/pulls'))).toMatchObject({ ok: false })
    expect(await look(page, dataset('me/pulls'))).toMatchObject({ ok: true })
  })
})

it('a staged run is kept before its first step and between two, and goes on in another worker', async () => {
  const straight = await loaded()
  await straight.run(stage('sft'))
  expect(await archive.list()).toMatchObject([{ step: 0, checkpoint: 0, stages: [{ kind: 'sft', steps: 6 }] }])
  await straight.untilState('paused', { type: 'step' })
  await straight.run(stage('dpo', { max_steps: 2 }))
  const run = (await archive.list())[0]!
  expect(run).toMatchObject({ step: 1, checkpoint: 1, stages: [{ kind: 'sft', afterStep: 0 }, { kind: 'dpo', afterStep: 1 }] })
  straight.journal?.close()
  await new Promise((resolve) => setTimeout(resolve, 20))

  const other = withStages(openRunner({}, async () => archive))
  const restored = other.until((m) => m.type === 'restored')
  other.resume(run.id)
  await restored
  expect(other.stages()).toHaveLength(2)
  expect([...other.engine().theta]).toEqual([...straight.engine().theta].map(Math.fround))
  await other.untilState('paused', { type: 'step' })
  await straight.untilState('paused', { type: 'step' })
  expect(other.records()[0]?.episodes.map(({ ids }) => ids)).toEqual(straight.records()[1]?.episodes.map(({ ids }) => ids))
})
