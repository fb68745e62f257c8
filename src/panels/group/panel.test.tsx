// @vitest-environment happy-dom
import { act } from 'react'
import { describe, expect, it } from 'vitest'
import type { Episode } from '../../core/episode'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, type ScriptOptions, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
import { RewardsPanel } from '../rewards/RewardsPanel'
import { mount } from '../testing/mount'
import { GroupPanel } from './GroupPanel'

const phase = (messages: Message[], type: string) => messages.findIndex((m) => m.type === 'event' && m.event.type === type)

/** The script with episodes that ended otherwise. */
const changed = (messages: Message[], change: (episode: Episode) => Partial<Episode>): Message[] =>
  messages.map((m) => (m.type === 'event' && m.event.type === 'episode-finished' ? { ...m, event: { ...m.event, episode: { ...m.event.episode, ...change(m.event.episode) } } } : m))

async function open(hash = '') {
  const page = await mount(
    (stores) => (
      <StoresProvider stores={stores}>
        <GroupPanel />
        <RewardsPanel />
      </StoresProvider>
    ),
    hash,
  )
  await page.say(...engineMessages())
  const rows = () => [...page.host.querySelectorAll<HTMLElement>('.panel-group [data-episode]')].map((row) => Number(row.dataset['episode']))
  const text = (id: string) => page.find(id)?.textContent ?? ''
  const play = (options: ScriptOptions) => page.say(...stepMessages(1, options))
  return { ...page, rows, text, play }
}

describe('the group and its rewards', () => {
  it('before the first step show the places that it will fill', async () => {
    const page = await open('#v=1&env=lane&num_generations=4&prompts_per_step=1')
    expect(page.rows()).toEqual([0, 1, 2, 3])
    expect(page.text('episode-0')).toContain('not started')
    expect(page.text('explained')).toContain('It has not begun.')
    expect(page.find('watch-step')?.disabled).toBe(true)
  })

  it('while episodes are written keep their order, whatever was asked for', async () => {
    const page = await open()
    const step = stepMessages(1, { groups: 1, size: 4, skill: () => 0.5 })
    await act(async () => page.stores.display.setState({ order: 'worst' }))
    await page.say(...step.slice(0, phase(step, 'episode-finished')))
    expect(page.text('episode-0')).toMatch(/writing|waiting/)
    expect([page.rows(), page.text('group-counts')]).toEqual([[0, 1, 2, 3], expect.stringContaining('when all episodes of the step have ended')])
    await page.say(...step.slice(phase(step, 'episode-finished')))
    const rewards = page.rows().map((i) => page.stores.run.getState().steps[0]?.episodes[i]?.reward ?? 0)
    expect(rewards).toEqual([...rewards].sort((a, b) => a - b))
    expect([...page.host.querySelectorAll<HTMLElement>('.panel-rewards [data-episode]')].map((row) => Number(row.dataset['episode']))).toEqual(page.rows())
  })

  it('mark the selected token on its strip, and none that the episode does not have (yet)', async () => {
    const page = await open()
    await page.play({ groups: 1, size: 4 })
    const { length = 0, promptLength = 0 } = page.stores.run.getState().steps[0]?.episodes[1] ?? {}
    const marksAt = async (token: number) => {
      await act(async () => page.stores.selection.setState({ episode: 1, token }))
      return [...page.host.querySelectorAll<HTMLElement>('.strip-cursor')].map(({ style }) => parseFloat(style.left))
    }
    for (const token of [promptLength, length - 1]) expect(await marksAt(token)).toEqual([expect.closeTo((100 * (token - promptLength + 0.5)) / (length - promptLength), 6)])
    for (const token of [promptLength - 1, length, 999_999]) expect(await marksAt(token)).toEqual([])
  })

  it('explain the advantage of the episode that is selected or pointed at, and light it in both', async () => {
    const page = await open()
    await page.play({ groups: 1, size: 4, skill: () => 0.5 })
    await page.press(page.host.querySelector<HTMLElement>('[data-testid="episode-2"] button'))
    expect(page.text('explained')).toMatch(/^Episode 3\..*÷.*=\u00a0[+−]/)
    await act(async () => page.find('reward-1')?.dispatchEvent(new Event('pointerover', { bubbles: true })))
    expect(page.text('explained')).toMatch(/^Episode 2\./)
    expect([...page.host.querySelectorAll<HTMLElement>('.pointed')].map((row) => row.dataset['episode'])).toEqual(['1', '1'])
    await act(async () => document.body.dispatchEvent(new Event('pointerover', { bubbles: true })))
    expect(page.host.querySelectorAll('.pointed')).toHaveLength(0)
  })

  it('name and explain a group without a signal, say how often that happened and what helps', async () => {
    const page = await open()
    await page.play({ groups: 2, size: 4, skill: () => 1 })
    expect(page.text('no-signal')).toBe('no signal')
    expect(page.text('explained')).toMatch(/All 4 rewards are 1\.00.*exactly 0/)
    expect(page.text('explained')).toContain('num_generations')
    expect(page.text('silent-groups')).toMatch(/^No signal in 2 of 2 groups \(frac_reward_zero_std 1\.00\)/)
    expect(page.host.querySelectorAll('.group-choice.silent')).toHaveLength(2)
  })

  it('leave an episode without a reward out of mean and std, with its reason', async () => {
    const page = await open()
    await page.play({ groups: 1, size: 4, broken: 1, skill: () => 0.5 })
    expect(page.find('episode-1')?.dataset['outcome']).toBe('unscorable')
    expect(page.text('reward-1')).toContain('left out')
    expect(page.find('reward-1')?.querySelector('.mean-tick, .std-band')).toBeNull()
    expect(page.find('reward-0')?.querySelector('.mean-tick')).not.toBeNull()
    expect(page.host.textContent).toContain('over 3 of 4')
    expect(page.text('group-counts')).toContain('environment failed · 1')
    await page.press(page.host.querySelector<HTMLElement>('[data-testid="episode-1"] button'))
    expect(page.text('explained')).toContain('code 1006')
  })

  it('draw negative rewards to the left of zero', async () => {
    const page = await open()
    await page.say(...changed(stepMessages(1, { groups: 1, size: 4, skill: () => 0.5 }), ({ index }) => ({ reward: index === 0 ? 1 : -1, turns: [] })))
    expect(page.find('reward-0')?.querySelector('.reward-bar.loss')).toBeNull()
    const bar = page.find('reward-1')?.querySelector<HTMLElement>('.reward-bar.loss')
    expect([bar?.style.left, bar?.style.width]).toEqual(['0%', '50%'])
    expect(page.find('reward-1')?.querySelector<HTMLElement>('.zero-line')?.style.left).toBe('50%')
  })

  it('sift by what went otherwise, each kind with its own count, and lead back when none is left', async () => {
    const page = await open()
    const turn = { start: 0, end: 1, resultEnd: 1, calls: [], parseError: 'no JSON' }
    await page.say(
      ...changed(stepMessages(1, { groups: 1, size: 4, skill: () => 1 }), ({ index, turns }) =>
        index === 1 ? { turns: [turn, ...turns] } : index === 2 ? { reward: null, exit: 'env_unreadable', error: 'No JSON.' } : index === 3 ? { exit: 'token_limit', reward: 0, success: false } : {},
      ),
    )
    const options = [...(page.find('episode-filter')?.querySelectorAll('option') ?? [])].map((option) => option.textContent)
    expect(options).toEqual(expect.arrayContaining(['all episodes · 4', 'parse failure · 1', 'answer not readable · 1', 'environment failed · 0', 'environment said 0 · 0']))
    expect(page.text('episode-3')).toContain('out of tokens')
    expect(page.text('episode-1')).toContain('1 tool call that could not be parsed')
    await page.type('episode-filter', 'parse')
    expect([page.rows(), page.text('group-counts')]).toEqual([[1], expect.stringContaining('1 of 4 shown')])
    await page.type('episode-filter', 'failed')
    expect(page.rows()).toEqual([])
    await page.press(page.host.querySelector<HTMLElement>('.none-left button'))
    expect(page.rows()).toEqual([0, 1, 2, 3])
  })

  it('hold 64 episodes in closer rows, one of them in the tab order, arrows move on', async () => {
    const page = await open()
    await page.play({ groups: 1, size: 64 })
    expect(page.host.querySelectorAll('.panel-group .rows.dense > .row')).toHaveLength(64)
    const stops = () => [...page.host.querySelectorAll<HTMLButtonElement>('.episode-button')].flatMap((button, i) => (button.tabIndex === 0 ? [i] : []))
    const key = (name: string) => act(async () => (document.activeElement ?? page.host).dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true })))
    expect(stops()).toEqual([0])
    await act(async () => page.host.querySelector<HTMLButtonElement>('.episode-button')?.focus())
    await key('ArrowDown')
    await key('ArrowDown')
    expect([stops(), page.stores.selection.getState().episode]).toEqual([[2], 2])
    await key('End')
    expect(page.stores.selection.getState().episode).toBe(63)
    expect(document.activeElement?.closest('[data-episode]')?.getAttribute('data-episode')).toBe('63')
  })

  it('say of a single episode that there is nothing to compare it with', async () => {
    const page = await open()
    await page.play({ groups: 1, size: 1 })
    expect(page.text('explained')).toContain('nothing to compare it with')
    expect(page.find('group-picker')).toBeNull()
  })

  it('show of each group its rewards as small bars, and take it by a press', async () => {
    const page = await open()
    await page.play({ groups: 8, size: 8, skill: () => 0.5, broken: 3 })
    const choices = [...page.host.querySelectorAll<HTMLElement>('.group-choice')]
    expect(choices.map((choice) => choice.querySelectorAll('rect').length)).toEqual([7, 8, 8, 8, 8, 8, 8, 8])
    expect(choices[0]?.title).toMatch(/^Group 1, mean 0\.\d+, 1 unscorable$/)
    await page.press(choices[4]?.querySelector('input'))
    expect(page.stores.selection.getState().episode).toBe(32)
  })
})
