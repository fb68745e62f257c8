// @vitest-environment happy-dom
import { act } from 'react'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { OWN_REWARD } from '../../core/reward-funcs'
import type { RunRecord } from '../../core/run-record'
import type { SignInDoor } from '../../store/account-store'
import { StoresProvider } from '../../store/hooks'
import { runRecord, runsMessage } from '../../store/testing/kept'
import { engineMessages } from '../../store/testing/script'
import { JULIA, signInDoor } from '../../store/testing/sign-in'
import { bytes } from '../../ui/format'
import type { Command, Message } from '../../worker/protocol'
import { mount } from '../testing/mount'
import { SaveFiles } from './SaveFiles'
import { TakeAwayButton } from './TakeAwayButton'
import { TakeAwayDialog } from './TakeAwayDialog'
import { fetchLater } from '../../ui/later'

// What is fetched when it is opened is here from the start.
beforeAll(fetchLater)

afterEach(() => vi.restoreAllMocks())

const A = runRecord({ id: 'run-a', name: 'Lane, first' })
const B = runRecord({ id: 'run-b', name: 'older', checkpoint: null })

async function open(runs: RunRecord[] = [A, B], current: string | null = 'run-a') {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <TakeAwayButton />
      <TakeAwayDialog />
      <SaveFiles />
    </StoresProvider>
  ))
  await page.say(...engineMessages(), runsMessage(runs, { current }))
  await page.press('take-away-open')
  const sent = <T extends Command['type']>(type: T) => page.port.sent.filter((c): c is Extract<Command, { type: T }> => c.type === type)
  const text = (id: string) => page.find(id)?.textContent ?? ''
  const signIn = async (change: Partial<SignInDoor> = { here: () => JULIA }) => {
    const made = signInDoor(change)
    await act(async () => void (await page.stores.account.open(made.door)))
    return made
  }
  return { ...page, sent, text, signIn }
}

describe('the files of a run', () => {
  it('are made at a press, saved once, and tell their name and size', async () => {
    const saved: string[] = []
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      saved.push(`${this.download} ${this.href.split(':')[0] ?? ''}`)
    })
    const page = await open()
    await page.press('export-adapter')
    expect(page.sent('export')).toEqual([{ type: 'export', requestId: 1, id: 'run-a', kind: 'adapter' }])
    expect(page.find('export-adapter')?.disabled).toBe(true)
    expect(page.text('export-adapter-state')).toContain('making the file')
    await page.say({ type: 'exported', requestId: 1, result: { ok: true, name: 'lane-adapter.zip', file: new Blob(['12345']) } })
    expect(saved).toEqual(['lane-adapter.zip blob'])
    expect(page.text('export-adapter-state')).toContain('lane-adapter.zip, 5 B')
    expect(page.find('export-adapter')?.textContent).toBe('Download again')
  })

  it('are as large as what is in them: of the shipped model its base, too; of a Hub model the LoRA alone', async () => {
    const { parameters, trainable } = A.engine
    const page = await open()
    expect(page.text('downloads')).toContain(`LoRA adapter · about ${bytes(4 * (parameters + trainable))}`)
    expect(page.text('downloads')).toContain(`The LoRA itself is ${bytes(4 * trainable)}`)
    const hub = await open([{ ...A, config: { ...A.config, model: 'Qwen/Qwen3-0.6B' } }])
    expect(hub.text('downloads')).toContain(`LoRA adapter · about ${bytes(4 * trainable)}`)
    expect(hub.text('downloads')).not.toContain('base/')
  })

  it('tell runs of one name apart in the selector, what is loaded first', async () => {
    const page = await open([A, { ...B, name: A.name, config: { ...B.config, grpo: { ...B.config.grpo, seed: 3 } } }], 'run-a')
    const options = [...page.host.querySelectorAll('[data-testid="take-away-run"] option')].map((o) => o.textContent ?? '')
    expect(options[0]).toMatch(/^Loaded now · .*seed/)
    expect(options[1]).toContain('seed 3')
  })

  it('are saved also when the dialog was closed meanwhile', async () => {
    const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined)
    const page = await open()
    await page.press('export-everything')
    await page.press('close-take-away')
    expect(page.find('downloads')).toBeNull()
    await page.say({ type: 'exported', requestId: 1, result: { ok: true, name: 'lane.zip', file: new Blob(['1']) } })
    expect(click).toHaveBeenCalledTimes(1)
  })

  it('say at their own line why they could not be made, and can be tried again', async () => {
    const page = await open()
    await page.press('export-trl')
    await page.say({ type: 'exported', requestId: 1, result: { ok: false, error: 'The server is gone.', advice: 'Connect it again.' } })
    expect(page.text('export-trl-state')).toBe('The server is gone. Connect it again.')
    await page.press('export-trl')
    expect(page.sent('export')).toHaveLength(2)
  })

  it('that cannot be made say why before they are tried', async () => {
    const hub = await open([runRecord({ id: 'run-a', config: { ...A.config, model: 'Qwen/Qwen3-0.6B' } })])
    expect([hub.find('export-merged')?.disabled, hub.find('export-adapter')?.disabled]).toEqual([true, false])
    expect(hub.text('downloads')).toContain('Not in the browser: Qwen3-0.6B')
    const page = await open()
    await page.type('take-away-run', 'run-b')
    expect([page.find('export-adapter')?.disabled, page.find('export-metrics-csv')?.disabled]).toEqual([true, false])
    expect(page.text('downloads')).toContain('No step of it was kept with its adapter.')
  })

  it('for TRL cannot be made where the record does not tell what the environments are', async () => {
    const lane = { environment: { kind: 'builtin', name: 'lane' }, weight: 1, system_prompt: '', user_prompt: '' } as const
    const mix = await open([{ ...A, config: { ...A.config, environment: { kind: 'mix', members: [lane], dataset: null } } }])
    expect(mix.find('export-trl')?.disabled).toBe(true)
    expect(mix.host.querySelector('#export-trl-what')?.textContent).toContain('does not tell what its environments are')
    const server = await open([{ ...A, config: { ...A.config, environment: { kind: 'openenv', url: 'ws://a' } }, environment: { ...A.environment, name: 'shop', tools: [] } }])
    expect([server.find('export-trl')?.disabled, server.find('export-adapter')?.disabled]).toEqual([true, false])
    expect(server.host.querySelector('#export-trl-what')?.textContent).toContain('The record of shop has no tools')
  })

  it('for TRL say before they are made what of the run is JavaScript', async () => {
    const plain = await open()
    expect(plain.host.querySelector('#export-trl-what')?.textContent).not.toContain('JavaScript')
    const code = { called: 'my_rollout', code: 'function my_rollout() {}' }
    const grpo = { ...A.config.grpo, reward_funcs: [{ name: 'custom', called: 'mine', code: '' } as const] }
    const page = await open([{ ...A, config: { ...A.config, environment: { kind: 'custom', called: 'Shop', code: '' }, rollout_func: code, grpo: { ...grpo, reward_funcs: [...grpo.reward_funcs, OWN_REWARD] } } }])
    const text = page.host.querySelector('#export-trl-what')?.textContent ?? ''
    expect(text).toContain('my_rollout, the rollout_func, is JavaScript: its source goes along as rollout_func.js, and train.py generates with TRL’s own loop.')
    expect(text).toContain('mine, a reward function in JavaScript: train.py has the code as a comment, to be written in Python, and leaves it out until then.')
    expect(text).toContain('Shop: a class in JavaScript. The folder has the methods in Python')
    const judged = await open([{ ...A, config: { ...A.config, grpo } }])
    expect(judged.host.querySelector('#export-trl-what')?.textContent).toContain('to be written in Python, and does not start before.')
  })

  it('are of the step whose weights are kept, never under a newer one’s name', async () => {
    const page = await open([{ ...A, step: 4, checkpoint: 1 }], null)
    expect(page.text('take-away-step')).toBe('as it was after step 1: the weights of later steps (it has 4) were not kept')
  })

  it('are had of the loaded run also where the browser keeps none of it, and say that they are in memory alone', async () => {
    const page = await open([], null)
    const run = runRecord({ id: 'run-m', step: 2, checkpoint: 2, droppedSteps: 2 })
    await page.say(runsMessage([], { problem: 'refused', unkept: { run, why: 'refused' } }))
    expect(page.text('take-away-step')).toContain('as it is after step 2, in this tab’s memory alone')
    expect(page.text('take-away-run')).toContain('Loaded now')
    expect([page.find('export-adapter')?.disabled, page.find('export-trajectories-jsonl')?.disabled]).toEqual([false, true])
    await page.press('export-adapter')
    expect(page.sent('export')).toMatchObject([{ id: 'run-m', kind: 'adapter' }])
    // The newer one in memory stands for the older one that is kept; another run's place is taken by neither.
    await page.say(runsMessage([B, { ...run, step: 1, checkpoint: 1 }], { current: 'run-m', unkept: { run, why: 'no room' } }))
    expect([...page.host.querySelectorAll('[data-testid="take-away-run"] option')]).toHaveLength(2)
    expect(page.text('take-away-step')).toContain('after step 2')
    await page.say({ type: 'cleared' })
    expect(page.stores.runs.store.getState().unkept).toBeNull()
  })

  it('do not exist before the first step', async () => {
    const page = await open([], null)
    expect(page.text('nothing-to-take')).toContain('once its first step has ended')
  })
})

describe('an evaluation', () => {
  it('counts its episodes, and is shown with its interval', async () => {
    const page = await open()
    await page.type('evaluate-episodes', '0')
    expect(page.find('evaluate')?.disabled).toBe(true)
    await page.type('evaluate-episodes', '10')
    await page.press('evaluate')
    expect(page.sent('evaluate')).toEqual([{ type: 'evaluate', requestId: 1, episodes: 10 }])
    await page.say({ type: 'event', event: { type: 'evaluation', split: 'heldout', done: 4, total: 10 } })
    expect(page.text('evaluation-progress')).toContain('held-out scenarios: 4 of 10 episodes')
    await page.press('evaluate-stop')
    expect(page.sent('evaluate-stop')).toHaveLength(1)
    page.find('evaluate-stop')?.focus()
    const record = { step: 37, split: 'train', solved: 5, scorable: 10, reward: 0.5, precision: 'float32' } as const
    await page.say({ type: 'evaluation', requestId: 1, result: { train: 0.5, heldOut: null, episodes: 10, records: [record] } })
    expect(page.text('evaluations')).toContain('5/10')
    expect(page.find('evaluate-stop')).toBeNull()
    expect(document.activeElement).toBe(page.find('evaluate'))
    expect(page.text('evaluations')).toContain('23.7 – 76.3 %')
  })

  it('is greedy and of the base model too, where that is chosen, and says which figure is whose', async () => {
    const page = await open()
    await page.type('evaluate-how', 'greedy')
    await page.press('evaluate-base')
    await page.press('evaluate')
    expect(page.sent('evaluate')).toEqual([{ type: 'evaluate', requestId: 1, episodes: 64, base: true, greedy: true }])
    const record = { step: 37, split: 'heldout', scorable: 64, reward: 0.5, precision: 'float32', greedy: true } as const
    const records = [{ ...record, solved: 60 }, { ...record, solved: 16, policy: 'base' as const }]
    await page.say({ type: 'evaluation', requestId: 1, result: { train: 0.9, heldOut: 0.9, episodes: 64, records } })
    const rows = [...(page.find('evaluations')?.querySelectorAll('tbody tr') ?? [])].map((row) => row.textContent)
    expect(rows[0]).toMatch(/16\/64.*base alone, greedy$/)
    expect(rows[1]).toMatch(/60\/64.*with LoRA, greedy$/)
  })

  it('shows what was kept with the run, newest first', async () => {
    const record = { split: 'heldout', solved: 0, scorable: 0, reward: 0, precision: 'float32' } as const
    const page = await open([runRecord({ id: 'run-a', evaluations: [{ ...record, step: 0 }, { ...record, step: 37, solved: 8, scorable: 8 }] })])
    const rows = [...(page.find('evaluations')?.querySelectorAll('tbody tr') ?? [])].map((row) => row.textContent)
    expect(rows[0]).toContain('37held-out8/8100 %')
    expect(rows[1]).toContain('0/0–')
  })

  it('can be made on the float32 base, too, where the run was trained on another', async () => {
    const run = runRecord({ id: 'run-a', config: { ...A.config, precision: 'int4' } })
    const page = await open([run])
    expect(page.text('other-base')).toContain('trained on its base in int4')
    await page.press('load-base')
    expect(page.sent('resume')).toEqual([{ type: 'resume', id: 'run-a', precision: 'float32' }])
    await page.say({ type: 'restored', run, history: [], episodes: [] })
    expect(page.text('other-base')).toContain('stands on the float32 base now')
    await page.press('load-base')
    expect(page.sent('resume').at(-1)).toEqual({ type: 'resume', id: 'run-a' })
  })

  it('is refused with the reason: another run, a step under way, the worker’s own', async () => {
    const other = await open([A, B], 'run-b')
    await other.type('take-away-run', 'run-a')
    expect([other.find('evaluate')?.disabled, other.text('evaluation')]).toEqual([true, expect.stringContaining('load this one first')])
    const page = await open()
    await page.press('evaluate')
    await page.say({ type: 'evaluation-failed', requestId: 1, error: 'The server closed the connection.' })
    expect(page.text('evaluation-error')).toBe('The server closed the connection.')
    await page.say({ type: 'state', state: { state: 'running', until: 'limit' } })
    expect([page.find('evaluate')?.disabled, page.text('evaluation')]).toEqual([true, expect.stringContaining('press Pause first')])
  })
})

describe('publishing', () => {
  const published = (result: Extract<Message, { type: 'published' }>['result']): Message => ({ type: 'published', requestId: 1, result })

  it('waits for an account; the name that is proposed is that of the account', async () => {
    const page = await open()
    expect([page.find('publish')?.disabled, page.find('sign-in')]).toEqual([true, null])
    await page.signIn()
    expect(page.text('signed-in')).toBe('Signed in as julia.')
    expect(page.sent('token')).toEqual([{ type: 'token', token: JULIA.token }])
    expect(page.host.textContent).not.toContain(JULIA.token)
    expect(page.find<HTMLInputElement>('publish-repo')?.value).toBe('julia/grpo-lane-first-runa')
    await page.press('publish')
    const target = { what: 'adapter', repo: 'julia/grpo-lane-first-runa', into: 'new', private: true, asPullRequest: false }
    expect(page.sent('publish')).toEqual([{ type: 'publish', requestId: 1, id: 'run-a', target }])
  })

  it('proposes another name for every run, without a token that is in the run’s name, and none of a repository that exists', async () => {
    const page = await open([runRecord({ id: '7F3a-99c2', name: `lane hf_${'aB3'.repeat(12)}` })], '7F3a-99c2')
    await page.signIn()
    expect(page.find<HTMLInputElement>('publish-repo')?.value).toBe('julia/grpo-lane-hf-7f3a99')
    await page.press('publish-existing')
    expect(page.find<HTMLInputElement>('publish-repo')?.value).toBe('julia/')
    expect([page.find('publish')?.disabled, page.text('publish-section')]).toEqual([true, expect.stringContaining('after the slash')])
    await page.type('publish-repo', 'julia/old')
    await page.press('publish')
    expect(page.sent('publish')[0]?.target).toMatchObject({ repo: 'julia/old', into: 'existing', asPullRequest: false })
  })

  it('offers to update a repository that exists where a new one was asked for', async () => {
    const page = await open()
    let lacking = ['write-repos']
    await page.signIn({ here: () => JULIA, lacking: (_, { toExisting }) => (toExisting ? lacking : []) })
    await page.press('publish')
    await page.say(published({ ok: false, error: 'julia/x exists already.', advice: 'Update it.', canRetry: false, exists: true }))
    expect([page.find('publish-retry'), page.text('publish-update')]).toEqual([null, 'Update julia/grpo-lane-first-runa'])
    await page.press('publish-update')
    expect([page.sent('publish').length, page.text('lacking')]).toEqual([1, expect.stringContaining('write-repos')])
    lacking = []
    await page.press('publish-update')
    expect(page.sent('publish')[1]).toMatchObject({ requestId: 2, id: 'run-a', target: { repo: 'julia/grpo-lane-first-runa', into: 'existing', private: true } })
  })

  it('takes a pasted token, which can be forgotten; its owner must be written', async () => {
    const page = await open()
    await page.type('token-input', 'hf_abcdef')
    await page.press('use-token')
    expect(page.text('signed-in')).toBe('A token is set.')
    expect([page.find('publish')?.disabled, page.text('publish-section')]).toEqual([true, expect.stringContaining('your-name/grpo-')])
    await page.type('publish-repo', 'no slash')
    expect(page.find('publish-repo')?.getAttribute('aria-invalid')).toBe('true')
    await page.type('publish-repo', 'me/lane')
    expect(page.find('publish')?.disabled).toBe(false)
    await page.press('sign-out')
    expect(page.sent('token').at(-1)).toEqual({ type: 'token', token: null })
    expect(page.find('publish')?.disabled).toBe(true)
  })

  it('keeps the run and leaves for the Hub with no more rights than needed', async () => {
    const page = await open()
    const { left } = await page.signIn({})
    await page.press('publish-pull-request')
    await page.press('sign-in')
    expect(page.sent('save')).toHaveLength(1)
    expect(left).toEqual([['app', { toExisting: false, asPullRequest: true }]])
  })

  it('asks for a right that is lacking, and for a new sign-in once it has run out', async () => {
    const page = await open()
    let over: Error | null = null
    await page.signIn({ here: () => JULIA, lacking: (_, { toExisting }) => (toExisting ? ['write-repos'] : []), expired: () => over })
    await page.press('publish-existing')
    expect([page.find('publish')?.disabled, page.text('lacking')]).toEqual([true, expect.stringContaining('write-repos')])
    await page.press('publish-new')
    over = new Error('Your sign-in has expired.')
    await page.press('publish')
    expect([page.sent('publish'), page.text('sign-in-problem')]).toEqual([[], 'Your sign-in has expired.'])
  })

  it('warns before trajectories are published, and lets nobody see them unasked', async () => {
    const page = await open()
    await page.signIn()
    await page.press('publish-trajectories')
    expect(page.text('publish-warning')).toContain('every text of the environment')
    expect(page.find('publish')?.disabled).toBe(false)
    await page.press('publish-private')
    expect(page.find('publish')?.disabled).toBe(true)
    await page.press('publish-confirm')
    await page.press('publish')
    expect(page.sent('publish')[0]?.target).toEqual({ what: 'trajectories', repo: 'julia/grpo-lane-first-runa-trajectories', into: 'new', private: false, asPullRequest: false })
  })

  it('shows how far it is, can be stopped, and ends with a link that was verified', async () => {
    const page = await open()
    await page.signIn()
    await page.press('publish')
    await page.say({ type: 'publish-progress', requestId: 1, progress: { stage: 'uploading', done: 1_000_000, total: 4_000_000 } })
    expect(page.text('publish-progress')).toBe('Uploading, 1.00 MB of 4.00 MB')
    expect(page.find('publish-state')?.querySelector('progress')?.getAttribute('value')).toBe('1000000')
    await page.say({ type: 'publish-progress', requestId: 1, progress: { stage: 'waiting', seconds: 20, reason: 'the Hub asked to wait' } })
    expect(page.text('publish-progress')).toContain('Waiting 20 s: the Hub asked to wait')
    await page.press('publish-cancel')
    expect(page.sent('publish-stop')).toEqual([{ type: 'publish-stop', requestId: 1 }])
    await page.say(published({ ok: true, url: 'https://huggingface.co/julia/grpo-lane-first', commit: 'c0ffee1234', verified: true }))
    expect(page.text('published')).toContain('Verified by size and SHA-256.')
    expect(page.find('published-link')?.getAttribute('href')).toBe('https://huggingface.co/julia/grpo-lane-first')
    await page.press('publish-another')
    expect(page.find('publish')).not.toBeNull()
  })

  it('when refused says why and what to do, that nothing is lost, and tries again where that can help', async () => {
    const page = await open()
    await page.signIn()
    await page.press('publish')
    await page.say(published({ ok: false, error: 'The Hub is busy (409).', advice: 'Wait a minute.', canRetry: true }))
    expect(page.find('publish-refused')?.getAttribute('role')).toBe('alert')
    expect(page.text('publish-refused')).toContain('The Hub is busy (409). Wait a minute.')
    expect(page.text('publish-refused')).toContain('Your adapter is still here')
    await page.press('publish-zip')
    expect(page.sent('export')[0]).toMatchObject({ id: 'run-a', kind: 'everything' })
    await page.press('publish-retry')
    expect(page.sent('publish')).toHaveLength(2)
    await page.say({ type: 'published', requestId: page.sent('publish')[1]?.requestId ?? 0, result: { ok: false, error: 'No.', advice: '', canRetry: false } })
    expect(page.find('publish-retry')).toBeNull()
  })
})
