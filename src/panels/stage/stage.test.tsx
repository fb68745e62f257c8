// @vitest-environment happy-dom
/** The panel of the stages, as a person uses it. */
import { act } from 'react'
import { beforeAll, describe, expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { engineMessages } from '../../store/testing/script'
import { fetchLater } from '../../ui/later'
import type { Message, StageLook } from '../../worker/protocol'
import { mount } from '../testing/mount'
import { StagePanel } from './StagePanel'

// What is in a chunk of its own has come.
beforeAll(fetchLater)

const token = (text: string, target: boolean) => ({ id: 1, text, author: target ? ('model' as const) : ('template' as const), target })
const part = { promptLength: 1, cut: 0, tokens: [token('<|im_start|>', false), token('ho', true), token('\n', true)] }
const LOOK: StageLook = {
  rows: 7,
  tokens: 21,
  targets: 14,
  steps: 3,
  maxLength: 64,
  shortened: 1,
  mismatched: 0,
  problems: { count: 1, first: ['Line 2: This is not JSON. Write one JSON object a line.'] },
  dropped: { count: 0, first: [] },
  hub: null,
  from: 0,
  examples: [1, 3, 4, 5, 6].map((line) => ({ place: `line ${line}`, parts: [part] })),
}

async function open(hash = '#v=1&open=stage') {
  const page = await mount((stores) => <StoresProvider stores={stores}>{<StagePanel />}</StoresProvider>, hash)
  await page.say(...engineMessages(), { type: 'state', state: { state: 'ready' } })
  const last = () => page.port.sent.at(-1)
  const looked = (look: StageLook): Message => ({ type: 'stage-looked', requestId: (last() as { requestId: number }).requestId, result: { ok: true, look } })
  const text = (id: string) => page.find(id)?.textContent?.trim()
  return { ...page, last, looked, text }
}

describe('before GRPO', () => {
  it('is one line until it is opened', async () => {
    const page = await open('')
    expect(page.find('stage-train')).toBeNull()
    await page.press('stage-open')
    expect(page.find('stage-train')).not.toBeNull()
    expect(page.stores.display.getState().open).toEqual(['stage'])
  })

  it('shows every target before it trains, and trains only what was shown', async () => {
    const page = await open()
    expect([page.find('stage-look')?.disabled, page.find('stage-train')?.disabled]).toEqual([true, true])
    await page.type('stage-text', '{"text": "a"}')
    expect([page.find('stage-look')?.disabled, page.find('stage-train')?.disabled]).toEqual([false, true])
    await page.press('stage-look')
    await page.say(page.looked(LOOK))
    expect(page.text('stage-says')).toBe('7 rows, 21 tokens, of which 14 are targets; 3 optimizer steps.')
    expect(page.text('stage-problems')).toContain('Line 2: This is not JSON.')
    expect(page.find('stage-thought')).toBeNull()
    const tokens = [...(page.find('stage-row')?.querySelectorAll<HTMLElement>('.token') ?? [])]
    expect(tokens.map((each) => [each.dataset['target'], each.classList.contains('masked')])).toEqual([['false', true], ['true', false], ['true', false]])
    await page.press('stage-next')
    expect(page.last()).toMatchObject({ type: 'stage-look', from: 5 })
    await page.say(page.looked({ ...LOOK, from: 5 }))
    await page.press('stage-train')
    expect(page.last()).toMatchObject({ type: 'stage', kind: 'sft', dataset: { text: '{"text": "a"}' } })
    await page.type('stage-learning_rate', '0.1x')
    expect(page.host.textContent).toContain('learning_rate must be a number. Correct it: training waits for that.')
    expect([page.find('stage-train')?.disabled, page.text('stage-status')]).toEqual([true, 'learning_rate must be a number. Correct it first.'])
    await page.type('stage-learning_rate', '1')
    expect(page.text('stage-status')).toBe('learning_rate must be above 0 and below 1. Correct it first.')
    await page.type('stage-learning_rate', '0,001')
    expect(page.text('stage-status')).not.toContain('learning_rate')
    await page.type('stage-learning_rate', '0.02')
    expect(page.find('stage-train')?.disabled).toBe(true)
  })

  it('offers the other way, a stage that the run plans, while there is no plan', async () => {
    const page = await open()
    expect(page.host.querySelector('.stage-plan')?.textContent).toMatch(/By hand Below, on rows that you give.*Planned On rows that the run plays itself/)
    await page.press('stage-plan-dpo')
    expect(page.stores.setup.getState().config.stages).toMatchObject([{ kind: 'dpo', rows: { from: 'pairs' } }])
    expect(page.find('stage-plan-dpo')).toBeNull()
  })

  it('says that an empty think block is trained', async () => {
    const page = await open()
    await page.type('stage-text', '{"text": "a"}')
    await page.press('stage-look')
    const thought = ['<think>', '\n\n', '</think>'].map((text) => token(text, true))
    await page.say(page.looked({ ...LOOK, examples: [{ place: 'line 1', parts: [{ ...part, tokens: [...part.tokens, ...thought] }] }] }))
    expect(page.text('stage-thought')).toContain('is a target too')
  })

  it('pauses, goes on, ends, and says what the run has been through', async () => {
    const page = await open()
    const state = (now: 'preparing' | 'training' | 'paused'): Message => ({ type: 'stage-state', kind: 'dpo', state: { state: now } })
    await page.say(state('preparing'), state('training'), { type: 'stage-progress', kind: 'dpo', step: 1, steps: 4, metrics: { loss: 0.6931 } })
    expect(page.text('stage-status')).toBe('Training. Step 1 of 4.')
    expect(page.text('stage-now-loss')).toBe('0.693')
    await page.press('stage-pause')
    expect(page.last()).toEqual({ type: 'stage-control', do: 'pause' })
    await page.say(state('paused'))
    await page.press('stage-pause')
    expect(page.last()).toEqual({ type: 'stage-control', do: 'go-on' })
    await page.press('stage-stop')
    expect(page.last()).toEqual({ type: 'stage-control', do: 'stop' })
    const settings = { learning_rate: 1 } as never
    await page.say({ type: 'stages', stages: [{ kind: 'dpo', dataset: 'a', rows: 2, steps: 1, settings, afterStep: 0, first: {}, last: {} }] }, { type: 'stage-state', kind: 'dpo', state: { state: 'ended', steps: 1, error: '' } })
    expect(page.text('stage-line')).toBe('This run so far: DPO 1 step')
    expect(page.text('stage-status')).toBe('DPO ended after 1 step. GRPO goes on from here.')
  })

  it('takes a dataset of the Hub by its id, with its config and split to choose', async () => {
    const page = await open()
    await page.type('stage-hub', 'data')
    await page.press('stage-hub-read')
    expect(page.host.textContent).toContain("'data' is one word; a dataset's id has an owner and a name.")
    expect(page.port.sent).toEqual([])
    await page.type('stage-hub', 'https://huggingface.co/datasets/me/data')
    await page.press('stage-hub-read')
    expect(page.last()).toMatchObject({ type: 'stage-look', dataset: { name: 'me/data', hub: { repo: 'me/data', config: null } } })
    await page.say({ type: 'stage-reading', bytes: 2_500_000 })
    expect(page.text('stage-status')).toBe('Reading the data: 2.5 MB')
    await page.press('stage-stop-reading')
    expect(page.last()).toEqual({ type: 'stage-control', do: 'stop' })
    await page.say({ type: 'stage-looked', requestId: 1, result: { ok: false, error: 'The download of me/data was stopped.' } })
    expect(page.text('stage-error')).toBe('The download of me/data was stopped.')
    await page.press('stage-look')
    const choices = [{ config: 'default', splits: ['train', 'test'] }, { config: 'other', splits: ['train'] }]
    await page.say(page.looked({ ...LOOK, hub: { repo: 'me/data', revision: 'main', sha: 'abcdef01'.repeat(5), config: 'default', split: 'train', choices, more: true } }))
    expect(page.text('stage-hub-chosen')).toContain('me/data at commit abcdef01')
    await page.type('stage-split', 'test')
    expect(page.last()).toMatchObject({ type: 'stage-look', dataset: { hub: { config: 'default', split: 'test' } } })
    expect(page.find('stage-train')?.disabled).toBe(true)
    await page.press(page.host.querySelector<HTMLElement>('[data-testid="stage-hub-chosen"] button'))
    expect(page.find('stage-text')).not.toBeNull()
  })

  it('takes episodes of a step as data, and refuses files of another kind', async () => {
    const page = await open()
    await page.type('stage-least', '0,5')
    await page.press('stage-play')
    expect(page.last()).toMatchObject({ type: 'stage-rows', kind: 'sft', least: 0.5 })
    await page.say({ type: 'stage-rows', requestId: 1, result: { ok: false, error: 'No episode has it.' } })
    expect(page.text('stage-error')).toBe('No episode has it.')
    const input = page.find<HTMLInputElement>('stage-file')
    Object.defineProperty(input, 'files', { value: [new File(['x'], 'a.png')], configurable: true })
    await act(async () => input?.dispatchEvent(new Event('change', { bubbles: true })))
    expect(page.host.textContent).toContain('a.png is neither JSONL nor Parquet.')
  })
})
