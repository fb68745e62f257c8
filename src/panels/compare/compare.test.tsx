// @vitest-environment happy-dom
import { act } from 'react'
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyComparison } from '../../core/examination'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
import { fetchLater } from '../../ui/later'
import { mount } from '../testing/mount'
import { ComparePanel } from './ComparePanel'
import { comparison, side } from './testing'

// What is in a chunk of its own has come.
beforeAll(fetchLater)

async function open(hash = '#v=1&open=compare', messages: Message[] = engineMessages()) {
  const page = await mount((stores) => <StoresProvider stores={stores}>{<ComparePanel />}</StoresProvider>, hash)
  await page.say(...messages)
  const asked = () => page.port.sent.flatMap((command) => (command.type === 'compare' ? [command] : []))
  const answer = (made: PolicyComparison): Message => ({ type: 'compared', requestId: asked().at(-1)?.requestId ?? 0, result: { ok: true, comparison: { ...made, seed: asked().at(-1)?.seed ?? 0 } } })
  const status = () => page.find('compare-status')?.textContent?.trim()
  return { ...page, asked, answer, status }
}

const parted = comparison(side('call stop >hit', undefined, undefined, { reward: 0, success: false }), side('call change >passed'))

describe('before and after', () => {
  it('is one line until it is opened, which the link holds', async () => {
    const page = await open('')
    expect(page.host.textContent).toContain('Open it to let both play')
    expect(page.find('compare-play')).toBeNull()
    await page.press('compare-open')
      expect(page.stores.display.getState().open).toEqual(['compare'])
    expect(page.find('compare-play')).not.toBeNull()
  })

  it('plays the chosen scenario and shows both sides, where they part, and how likely each token is to each', async () => {
    const page = await open()
    expect(page.status()).toContain('Press Play both')
    await page.press('compare-next')
    await page.press('compare-play')
    expect(page.asked()).toMatchObject([{ seed: 4, split: 'heldout', temperature: 0 }])
    expect([page.status(), page.find('compare-play')?.disabled]).toEqual(['Playing: the base model first, then with the LoRA.', true])
    await page.say(page.answer(parted))
    expect(page.find('compare-verdict')?.textContent).toMatch(/^The first token is the same; there the LoRA wrote “change”, the base “stop”/)
    expect(page.find('compare-base')?.textContent).toContain('not solved · reward 0')
    expect(page.find('compare-lora')?.textContent).toContain('solved · reward 1.00')
    const tokens = [...page.host.querySelectorAll<HTMLElement>('[data-testid="compared-token"]')]
    expect(tokens.map((token) => [token.textContent, token.className.split(' ').at(-1)])).toEqual([
      ['call', 'common'],
      ['stop', 'parting'],
      ['>hit', ''],
      ['call', 'common'],
      ['change', 'parting'],
      ['>passed', ''],
    ])
    expect(tokens.map((token) => token.getAttribute('aria-label'))).toEqual([
      'call, ▼ −0.693 nats',
      'stop, the first token that differs, ▼ −0.693 nats',
      '>hit, environment, masked',
      'call, ▲ +0.693 nats',
      'change, the first token that differs, ▲ +0.693 nats',
      '>passed, environment, masked',
    ])
    expect(tokens.filter((token) => token.tabIndex === 0)).toHaveLength(2)
    expect(page.find('compare-prompt')?.textContent).toContain('The prompt, the same for both: 2 tokens')
    // Another seed was not played; the way back shows it again.
    await page.press('compare-next')
    expect(page.find('compare-base')).toBeNull()
    await page.press('compare-previous')
    expect(page.find('compare-base')).not.toBeNull()
  })

  it('refuses a seed that is none in place, and keeps the last one', async () => {
    const page = await open()
    await page.type('compare-seed', '12')
    await page.type('compare-seed', '1x')
    expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('whole number from 0')
    expect(page.stores.display.getState().compare.seed).toBe(12)
  })

  it('says why nothing can be played, and offers what helps', async () => {
    const page = await open(undefined, [...engineMessages(), { type: 'state', state: { state: 'running', until: 'limit' } }])
    await act(async () => page.stores.setup.setState(({ config }) => ({ applied: config })))
    expect(page.status()).toContain('The model is being trained')
    expect(page.find('compare-play')?.disabled).toBe(true)
    await page.press('compare-pause')
    expect(page.port.sent.at(-1)).toEqual({ type: 'pause' })
    await page.say(...stepMessages(1).slice(0, 50), { type: 'state', state: { state: 'paused', step: 0 } })
    expect(page.status()).toContain('in the middle of a step')
    await page.press('compare-finish')
    expect(page.port.sent.at(-1)).toMatchObject({ type: 'step', grain: 'step' })
    await page.say(...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    expect(page.find('compare-play')?.disabled).toBe(false)
  })

  it('shows the sentence of what failed, and that a comparison is of an older step', async () => {
    const page = await open(undefined, [...engineMessages(), ...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } }])
    await page.press('compare-play')
    await page.say({ type: 'compared', requestId: page.asked()[0]?.requestId ?? 0, result: { ok: false, error: 'The environment "lane" failed.' } })
    expect(page.status()).toContain('The environment "lane" failed.')
    await page.press('compare-play')
    await page.say(page.answer(parted))
    expect(page.status()).toBe('')
    await page.say(...stepMessages(2))
    expect(page.status()).toBe('Played after step 1; the LoRA now stands after step 2.')
    expect(page.find('compare-play')?.textContent).toBe('Play both again')
  })
})

describe('a run that evaluates itself', () => {
  const evaluated = (step: number, solved: number): Message => ({
    type: 'event',
    event: { type: 'evaluated', records: [{ step, split: 'heldout', solved, scorable: 32, reward: solved / 32, precision: 'float32', metrics: { eval_success: solved / 32, eval_reward: solved / 32 } }] },
  })
  const said = (page: Awaited<ReturnType<typeof open>>) => page.find('compare-evaluations')?.textContent

  it('is told as before and after with intervals, closed and open, and what overlaps as such', async () => {
    const page = await open('#v=1&eval_strategy=steps')
    expect(said(page)).toBe('The run evaluates itself: what it measures will stand here.')
    await page.say(evaluated(0, 8))
    expect(said(page)).toBe('Held-out episodes solved: 8 of 32 (95 %: 13.3 – 42.1 %; mean reward 0.250) before the first step.')
    await page.say(evaluated(10, 12))
    expect(said(page)).toMatch(/ before the first step → 12 of 32 \(.*\) after step 10\. The intervals overlap/)
    await page.say(evaluated(20, 31))
    expect(said(page)).toMatch(/^Held-out episodes solved: 8 of 32 .* → 31 of 32 \(95 %: 84.3 – 99.4 %; mean reward 0\.969\) after step 20\.$/)
    await page.press('compare-open')
    expect(said(page)).toContain('31 of 32')
  })

  it('and one that does not says nothing of it', async () => {
    expect(said(await open(''))).toBeUndefined()
  })
})
