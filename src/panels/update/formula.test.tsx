// @vitest-environment happy-dom
/** The formula card as it is drawn: KaTeX with MathML, the numbers of a kept token, masks, the branch that won. */
import { act } from 'react'
import { describe, expect, it } from 'vitest'
import type { RunConfig } from '../../core/config'
import { defaultConfig } from '../../store/presets'
import type { Stores } from '../../store/hooks'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import Tex from '../../ui/Tex'
import type { Message } from '../../worker/protocol'
import { eventually, mount } from '../testing/mount'
import { Trajectory } from '../trajectory/TrajectoryPanel'
import { useSelectedEpisode } from '../../store/hooks'
import { UpdatePanel } from './UpdatePanel'

function Both() {
  const episode = useSelectedEpisode()
  return (
    <>
      <UpdatePanel />
      {episode && <Trajectory episode={episode} />}
    </>
  )
}

async function open(messages: Message[], grpo: Partial<RunConfig['grpo']> = {}) {
  const page = await mount((stores: Stores) => (
    <StoresProvider stores={stores}>
      <Both />
    </StoresProvider>
  ))
  const config = defaultConfig()
  await act(async () => page.stores.setup.setState({ config, applied: { ...config, grpo: { ...config.grpo, ...grpo } } }))
  await page.say(...engineMessages(), ...messages)
  // The formula's program comes by itself, and may take its time on a busy machine.
  await eventually(() => expect(page.find('formula')?.querySelector('.katex, .katex-error')).toBeTruthy())
  const card = () => page.find<HTMLElement>('formula')
  const numbers = () => page.find<HTMLElement>('formula-numbers')
  const tex = (root: HTMLElement | null) => [...(root?.querySelectorAll('annotation[encoding="application/x-tex"]') ?? [])].map((a) => a.textContent)
  const tokens = () => [...page.host.querySelectorAll<HTMLElement>('.segments [data-testid="token"]')]
  const of = (author: string, nth = 0) => tokens().filter((t) => t.dataset['author'] === author)[nth]
  return { ...page, card, numbers, tex, of }
}

const step = (options = {}) => stepMessages(1, { groups: 1, size: 4, skill: () => 0.5, ...options })

/** The step as it is recorded with two updates: the first model token of every episode went far up, the second far down. */
function moved(): Message[] {
  const messages = step()
  for (const m of messages) {
    if (m.type !== 'event' || m.event.type !== 'step-finished') continue
    for (const e of m.event.record.episodes) {
      e.lastLogprobs = (e.trainLogprobs ?? []).map((l, t) => (t === e.promptLength ? l + 1 : t === e.promptLength + 1 ? l - 1 : l))
    }
  }
  return messages
}

describe('the formula card', () => {
  it('draws the loss in use with MathML and no mistake, and names its source', async () => {
    for (const loss_type of ['grpo', 'bnpo', 'dr_grpo', 'dapo'] as const) {
      const page = await open(step(), { loss_type, beta: 0.04 })
      expect(page.card()?.dataset['loss']).toBe(loss_type)
      expect(page.card()?.querySelector('.katex math')).not.toBeNull()
      expect(page.card()?.querySelector('.katex-error')).toBeNull()
      expect(page.tex(page.card())[0]).toContain('\\beta\\,D_{i,t}')
      expect(page.card()?.querySelector('a')?.href).toMatch(/^https:/)
      expect(page.find('formula-symbols')?.textContent).toContain('beta (0.04) × KL')
      page.unmount()
    }
  })

  it('without a kept token gives the means of the step, and before the first step says what to do', async () => {
    const page = await open([])
    expect(page.numbers()?.textContent).toContain('Press a token')
    await page.say(...step())
    expect(page.numbers()?.dataset['kind']).toBe('means')
    expect(page.tex(page.numbers())[0]).toMatch(/B&=4\\qquad N=\d/)
    expect(page.card()?.querySelector('.katex-error')).toBeNull()
  })

  it('puts a pressed token’s numbers in place, follows the arrow keys, and lets go on a second press', async () => {
    const page = await open(step())
    await page.press(page.of('model'))
    expect(page.numbers()?.dataset['kind']).toBe('equal')
    expect(page.tex(page.numbers())[0]).toMatch(/\\rho&=e\^\{-.*=1\.00/)
    expect(page.tex(page.numbers())[0]?.match(/\\boxed/g)).toHaveLength(2)
    expect(page.numbers()?.textContent).toContain('num_iterations is 1')
    const first = page.stores.selection.getState().token
    await act(async () => {
      page.of('model')?.focus()
      page.of('model')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))
    })
    expect(page.stores.selection.getState().token).toBe((first ?? 0) + 1)
    await page.press(page.of('model', 1))
    expect(page.stores.selection.getState().token).toBeNull()
    expect(page.numbers()?.dataset['kind']).toBe('means')
  })

  it('reads "contributes 0" and why for a masked token and for an unscorable episode', async () => {
    const page = await open(step({ broken: 0 }))
    await page.press(page.of('model'))
    expect(page.numbers()?.textContent).toContain('contributes 0')
    expect(page.numbers()?.textContent).toContain('unscorable')
    await act(async () => page.stores.selection.setState({ token: 2 }))
    expect(page.numbers()?.textContent).toContain('It belongs to the prompt')
    expect(page.numbers()?.querySelector('.katex')).toBeNull()
  })

  it('boxes the branch that won: clipped with no push, unclipped with one', async () => {
    const page = await open(moved(), { num_iterations: 2 })
    const advantage = page.stores.run.getState().steps[0]?.episodes[0]?.advantage ?? 0
    const [up, down] = advantage > 0 ? ['clipped', 'unclipped'] : ['unclipped', 'clipped']
    await page.press(page.of('model', 0))
    expect(page.numbers()?.dataset['kind']).toBe(up)
    await page.press(page.of('model', 1))
    expect(page.numbers()?.dataset['kind']).toBe(down)
    await page.press(page.of('model', up === 'clipped' ? 0 : 1))
    expect(page.tex(page.numbers())[0]).toMatch(/clip\}\(\\rho\)A&=.*\\boxed/)
    expect(page.tex(page.numbers())[0]?.match(/\\boxed/g)).toHaveLength(1)
    expect(page.numbers()?.textContent).toContain('does not push it')
    expect(page.numbers()?.textContent).toContain('the last of the step’s 2 updates')
  })

  it('says that the ratio comes with the update', async () => {
    const messages = step()
    const scored = messages.findIndex((m) => m.type === 'event' && m.event.type === 'scored')
    const page = await open(messages.slice(0, scored))
    await page.press(page.of('model'))
    expect(page.numbers()?.textContent).toContain('has not run yet')
    await page.say(...messages.slice(scored, scored + 1))
    expect(page.numbers()?.textContent).toContain('Its advantage is')
  })

  it('draws a mistake as its source instead of failing', async () => {
    const page = await mount(() => <Tex tex={'\\nonsense{'} />)
    expect(page.host.textContent).toContain('nonsense')
  })
})
