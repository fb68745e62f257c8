// @vitest-environment happy-dom
import { act } from 'react'
import { describe, expect, it } from 'vitest'
import type { TimelineSpan } from '../../core/timeline'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
import { mount } from '../testing/mount'
import { TimelineView } from './TimelineView'

const span = (lane: number, start: number, end: number, change: Partial<TimelineSpan> = {}): TimelineSpan => ({ kind: 'sampling', lane, episode: lane, turn: 0, start, end, ...change })
const SPANS = [
  span(0, 0, 100, { kind: 'prefill' }),
  span(1, 100, 400),
  span(0, 100, 300),
  span(0, 300, 700, { kind: 'waiting' }),
  span(1, 400, 700, { kind: 'waiting' }),
]
const UPDATE = span(-1, 700, 800, { kind: 'training', episode: -1, part: 'gradient' })
const timeline = (step: number, ...spans: TimelineSpan[]): Message => ({ type: 'event', event: { type: 'timeline', step, spans } })

/** The messages of a step, without the record that ends it. */
const playing = (step: number) => stepMessages(step).filter((message) => message.type !== 'event' || message.event.type !== 'step-finished')

async function open(...messages: Message[]) {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <TimelineView />
    </StoresProvider>
  ))
  await page.say(...engineMessages(), ...messages)
  const text = (id: string) => page.find(id)?.textContent ?? ''
  const key = (name: string) => act(async () => void page.find('timeline-cursor')?.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true })))
  return { ...page, text, key }
}

describe('where the time goes', () => {
  it('grows while a step runs, and says what it spends its time on', async () => {
    const page = await open(...playing(1))
    expect(page.host.textContent).toContain('appear when an episode is played')
    await page.say(timeline(1, ...SPANS.slice(0, 3)))
    expect(page.text('bottleneck')).toMatch(/^So far: Slots write/)
    await page.say(timeline(1, ...SPANS.slice(3), UPDATE))
    // From 400 to 700 both slots wait; the step has come to 800.
    expect(page.text('bottleneck')).toContain('Nothing is computed 38 % of the time, because every slot waits for the environment. A faster environment')
    expect(page.text('share-training')).toBe('training 13 %')
    expect(page.host.querySelector('svg[role="img"]')?.getAttribute('aria-label')).toContain('waiting 44 %')
  })

  it('is read by the arrow keys, and Enter selects the episode and the turn everywhere', async () => {
    const page = await open(...playing(1), timeline(1, ...SPANS, UPDATE))
    const cursor = () => page.find('timeline-cursor')
    expect(cursor()?.getAttribute('aria-label')).toBe('Slot 1 · group 1 · episode 1 · turn 1 · prefill · 100 ms from 0 ms')
    await page.key('ArrowRight')
    await page.key('ArrowRight')
    expect(page.text('timeline-readout')).toBe('Slot 1 · group 1 · episode 1 · turn 1 · waiting · 400 ms from 300 ms')
    await page.key('ArrowDown')
    expect(cursor()?.dataset['episode']).toBe('1')
    await page.press('timeline-cursor')
    const { episode, token } = page.stores.selection.getState()
    expect(episode).toBe(1)
    expect(page.stores.shown.tokens.read(1, 1)[token ?? 0]?.author).toBe('model')
    expect(page.stores.shown.tokens.read(1, 1)[(token ?? 0) - 1]?.author).not.toBe('model')
    await page.key('ArrowDown')
    expect(page.text('timeline-readout')).toBe('Trainer: forward and backward · 100 ms from 700 ms')
    await page.press('timeline-cursor')
    expect(page.stores.selection.getState()).toMatchObject({ episode, token })
  })

  it('goes back to a kept step, and gives the same as a table', async () => {
    const page = await open(...stepMessages(1), timeline(1, ...SPANS, UPDATE), ...stepMessages(2), timeline(2, span(0, 0, 50)))
    expect(page.text('share-sampling')).toBe('sampling 8 %')
    await page.say(...playing(3), timeline(3, span(0, 0, 10)))
    expect(page.text('bottleneck')).toMatch(/^Step 2: /)
    expect(page.text('share-sampling')).toBe('sampling 100 %')
    await page.press(page.find('timeline-step')?.querySelector<HTMLElement>('input[value="1"]'))
    expect(page.stores.selection.getState().step).toBe(1)
    await page.press('timeline-table')
    const rows = [...(page.find('lane-table')?.querySelectorAll('tbody tr') ?? [])].map((row) => row.textContent)
    expect(rows[0]).toMatch(/^trainer–––100 ms–$/)
    expect(rows[1]).toMatch(/^slot 1200 ms100 ms400 ms–\d/)
    expect(rows).toHaveLength(3)
  })

  it('says so where nobody measured the times, or they are no longer kept', async () => {
    const page = await open(...stepMessages(1))
    expect(page.host.textContent).toContain('were not recorded')
    await page.say(...stepMessages(2), ...stepMessages(3), ...stepMessages(4))
    await act(async () => page.stores.selection.setState({ step: 1 }))
    expect(page.host.textContent).toContain('The lanes of step 1 are no longer kept')
  })
})
