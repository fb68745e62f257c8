// @vitest-environment happy-dom
import { act } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { StoresProvider, useDisplay } from '../../store/hooks'
import { restoredMessage } from '../../store/testing/kept'
import { engineMessages } from '../../store/testing/script'
import { chosenSpecs, curveSpecs, FIRST_CURVES } from '../../ui/curve-specs'
import { DURATIONS } from '../../ui/durations'
import { S } from '../../ui/strings'
import { eventually, mount } from '../testing/mount'
import { CurveChoice } from './CurveChoice'
import { CurvesPanel } from './CurvesPanel'


// recharts needs a real layout; what it draws is looked at in a browser.
vi.mock('./Chart', () => ({ default: () => null }))

const STEPS = 12

async function open(hash = '') {
  const page = await mount(
    (stores) => (
      <StoresProvider stores={stores}>
        <CurvesPanel />
      </StoresProvider>
    ),
    hash,
  )
  await page.say(...engineMessages(), restoredMessage(STEPS))
  const figures = () => [...page.host.querySelectorAll<HTMLElement>('[data-curve-figure]')].map(({ dataset }) => dataset['curveFigure'])
  await eventually(() => expect(page.host.textContent).not.toContain(S.curves.empty))
  // One chart after the other: this timer, which is set after theirs, comes after them.
  await act(async () => new Promise((resolve) => setTimeout(resolve, DURATIONS.nextChart * (figures().length + 1))))
  const key = (id: string, name: string) => act(async () => page.find(id)?.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true })))
  const write = async (id: string, text: string) => {
    await page.type(id, text)
    await key(id, 'Enter')
  }
  return { ...page, figures, key, write }
}

describe('the curves', () => {
  it('are a calm few, or those of the link, also one that the run does not record', async () => {
    expect((await open()).figures()).toEqual(FIRST_CURVES)
    const page = await open('#v=1&curves=loss,no/such')
    expect(page.figures()).toEqual(['loss', 'no/such'])
    expect(page.host.querySelector('[data-curve-figure="no/such"] .plot')?.textContent).toBe('This run has no values for it.')
  })

  it('say in words what they show', async () => {
    const page = await open()
    const plot = page.find('plot-entropy')
    const summary = plot?.ownerDocument.getElementById(plot.getAttribute('aria-describedby') ?? '')?.textContent
    expect(summary).toMatch(/^entropy over 12 steps: first 0\.\d+ nats, last 0\.\d+ nats, lowest .* highest .*\./)
  })

  it('are walked along by keyboard, and Enter shows the step everywhere', async () => {
    const page = await open()
    await page.key('plot-entropy', 'Home')
    await page.key('plot-entropy', 'ArrowRight')
    expect(page.find('plot-entropy')?.getAttribute('aria-valuetext')).toMatch(/^Step 2: 0\.\d+ nats$/)
    // The place is pointed at in all of them, and it is its number that stands above each.
    expect(page.host.querySelectorAll('.plot-cross')).toHaveLength(FIRST_CURVES.length)
    await page.key('plot-entropy', 'Enter')
    expect(page.stores.selection.getState().step).toBe(2)
    expect(page.host.querySelectorAll('[data-testid="plot-mark"]')).toHaveLength(FIRST_CURVES.length)
    expect(page.find('curves-says')?.textContent).toContain('The episodes of step 2 are no longer kept')
    await page.press('curves-follow')
    expect(page.stores.selection.getState().step).toBeNull()
  })

  it('are narrowed by two numbers, and widened by a button or Escape', async () => {
    const page = await open()
    await page.write('curves-from', '3')
    await page.write('curves-to', '5')
    await page.press('curves-table')
    const steps = () => [...page.host.querySelectorAll('[data-testid="curve-table"] tbody th')].map((cell) => cell.textContent)
    expect(steps()).toEqual(['5', '4', '3'])
    await page.press('curves-all')
    expect(steps()).toHaveLength(STEPS)
    await page.press('curves-table')
    await page.write('curves-from', '7')
    expect(page.find<HTMLInputElement>('curves-to')?.value).toBe('')
    await page.key('plot-reward', 'Escape')
    expect(page.find<HTMLInputElement>('curves-from')?.value).toBe('')
  })

  it('say what is wrong with a range, and keep the last good one', async () => {
    const page = await open()
    await page.write('curves-from', '9')
    await page.write('curves-to', '2')
    expect(page.host.querySelector('.curve-range [role="alert"]')?.textContent).toBe('The range from 9 to 2 holds nothing: the first number must be below the second.')
    expect(page.find<HTMLButtonElement>('curves-all')?.disabled).toBe(false)
  })

  it('say how many values a logarithm leaves out', async () => {
    const page = await open('#v=1&curves=clip_ratio/region_mean,completions/mean_length&log=true')
    const figure = page.host.querySelector('[data-curve-figure="clip_ratio/region_mean"]')
    expect(figure?.textContent).toContain(`${STEPS} values of 0 or below left out`)
    expect(page.host.querySelector('[data-curve-figure="completions/mean_length"]')?.textContent).not.toContain('left out')
  })

  it('are drawn over what the link says', async () => {
    const page = await open('#v=1&axis=episodes&smoothing=0.6')
    expect(page.find<HTMLInputElement>('curves-smoothing')?.value).toBe('0.6')
    await page.key('plot-reward', 'End')
    expect(page.find('plot-reward')?.getAttribute('aria-valuetext')).toContain('smoothed')
    const { episodes } = page.stores.run.getState().history[0] ?? { episodes: 0 }
    expect(page.find<HTMLInputElement>('curves-to')?.placeholder).toBe(String(episodes * STEPS))
  })
})

it('the choice of curves finds, adds and removes, and never leaves none', async () => {
  const { history } = restoredMessage(1)
  const specs = curveSpecs([history])
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <Choice specs={specs} history={history} />
    </StoresProvider>
  ))
  const box = (id: string) => page.host.querySelector<HTMLInputElement>(`[data-curve="${id}"]`)
  await page.press(box('loss'))
  expect(page.stores.display.getState().curves).toEqual([...FIRST_CURVES, 'loss'])
  await page.press('curves-first')
  expect(page.stores.display.getState().curves).toEqual([])
  await act(async () => page.stores.display.setState({ curves: ['loss'] }))
  expect(box('loss')?.disabled).toBe(true)
  expect(box('kl')?.parentElement?.textContent).toContain('no values')
  await page.type('curves-find', 'num_tok')
  expect([...page.host.querySelectorAll('[data-curve]')].map((each) => (each as HTMLElement).dataset['curve'])).toEqual(['num_tokens'])
  await page.type('curves-find', 'zzz')
  expect(page.host.textContent).toContain('No metric has zzz in its name.')
})

function Choice({ specs, history }: { specs: ReturnType<typeof curveSpecs>; history: ReturnType<typeof restoredMessage>['history'] }) {
  const chosen = useDisplay((display) => display.curves)
  return <CurveChoice specs={specs} drawn={chosenSpecs(specs, chosen)} histories={[history]} />
}
