// @vitest-environment happy-dom
/**
 * Whether all that a person can set, press or read from is explained, with every panel and dialog open. The rule:
 *
 * - a value (field, choice, switch, slider) has a '?' of its own beside it, nearer than its panel's; several that do one thing may share it
 * - what stands in a row of a list or table is explained where the list is: by the nearest '?' above it
 * - a button or a chart has a name, and is explained by its own '?' or by that of its panel, dialog or bar
 * - what only leads elsewhere on the page needs none: see ELSEWHERE
 */
import { act } from 'react'
import { expect, it } from 'vitest'
import { runRecord, runsMessage } from '../../store/testing/kept'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { explain, type HelpKey } from '../../ui/explainers'
import { fetchLater } from '../../ui/later'
import { eventually, mount } from '../testing/mount'
import { App } from './App'

/** Regions whose head may explain what is in them. */
const REGION = '.panel, dialog, .bar, .replay'
/** Wide parts of a region: a '?' somewhere in them is not beside anything. */
const WIDE = `${REGION}, .panel-body, .modal-body, .sheet-body, .model, .settings, main`
const VALUE = 'input, select, textarea, [role="slider"], [role="combobox"], [role="spinbutton"], [role="switch"]'
const PRESSED = 'button, summary, [role="img"], figure'
/** Ways to other parts of the page, offers that say themselves what they do, and what explains itself. */
const ELSEWHERE = '.loop-nav, .article, .tour-offer, .lesson, .tour, .head [role="alert"], .titled > .help, .help-text'

const all = (root: ParentNode, selector: string) => [...root.querySelectorAll<HTMLElement>(selector)]
const hidden = (element: HTMLElement) => element.closest('[aria-hidden="true"]') !== null

/** The '?' nearest above an element, up to and without what matches `wide`. */
function nearest(element: HTMLElement, wide: string): string | undefined {
  for (let up = element.parentElement; up && !up.matches(wide); up = up.parentElement) {
    const help = up.querySelector<HTMLElement>('.help')
    if (help && help !== element) return help.dataset['help']
  }
  return undefined
}

function explainedBy(element: HTMLElement): string | undefined {
  const own = nearest(element, WIDE)
  if (own || (element.matches(VALUE) && !element.closest('li, tr'))) return own
  return element.closest(REGION)?.querySelector<HTMLElement>('.help')?.dataset['help']
}

function nameOf(element: HTMLElement): string {
  const labels = 'labels' in element ? [...((element as HTMLInputElement).labels ?? [])].map((label) => label.textContent) : []
  return [element.getAttribute('aria-label'), element.title, element.textContent, ...labels].filter(Boolean).join(' ').trim()
}

const describe = (element: HTMLElement) => `${element.tagName.toLowerCase()} ${element.dataset['testid'] ?? element.id} "${nameOf(element).slice(0, 40)}" in ${element.closest<HTMLElement>(REGION)?.className ?? 'the page'}`

async function openAll() {
  const page = await mount((stores) => <App stores={stores} />)
  await page.say(...engineMessages(), ...stepMessages(1), ...stepMessages(2), runsMessage([runRecord()]))
  for (const id of ['stage-open', 'stage-plan-sft', 'plan-add-dpo']) {
    await page.until(id)
    await page.press(id)
  }
  await page.until('plan-editor-1')
  for (const id of ['compare-open', 'chat-open', 'play-open', 'open-known', 'runs-open']) await page.press(id)
  await page.press('curves-choose')
  await page.type('adapter-kind', 'file')
  await page.type('model-select', 'other')
  await act(async () => page.stores.takeAway.show(''))
  await act(async () => page.stores.display.setState({ bench: true }))
  // What is fetched when it is wanted comes by itself.
  const parts = ['runs', 'take-away', 'known', 'chat-text', 'play-seed', 'curves-smoothing', 'model-reference', 'adapter-files', 'bench-begin']
  await eventually(() => expect(parts.filter((id) => !page.find(id))).toEqual([]))
  for (const details of all(page.host, 'details')) (details as HTMLDetailsElement).open = true
  for (const edit of all(page.host, '[data-testid^="edit-tool-"]').slice(0, 1)) await page.press(edit)
  // Parts may have parts of their own.
  for (let i = 0; i < 2; i++) await act(fetchLater)
  return page
}

it('everything that can be set, pressed or read from is explained', async () => {
  const page = await openAll()
  const controls = all(document.body, `${VALUE}, ${PRESSED}`).filter((each) => !each.closest(ELSEWHERE) && !each.matches('.help, [type="hidden"]') && !hidden(each))
  expect(controls.length).toBeGreaterThan(100)
  expect(controls.filter((each) => nameOf(each) === '' && !each.matches('figure')).map(describe)).toEqual([])
  expect(controls.filter((each) => !explainedBy(each)).map(describe)).toEqual([])
  const keys = new Set(all(document.body, '.help').map(({ dataset }) => dataset['help'] ?? ''))
  expect([...keys].filter((key) => key !== 'text' && !explain(key as HelpKey))).toEqual([])
  expect(keys.size).toBeGreaterThan(60)

  // Heads and metrics have one of their own.
  expect(all(page.host, '.panel').filter((panel) => !panel.querySelector('.panel-head .help')).map(describe)).toEqual([])
  expect(all(page.host, 'dialog.modal').filter((dialog) => !dialog.querySelector('.modal-head .help')).map(describe)).toEqual([])
  expect(all(page.host, '[data-metric]').filter((row) => !row.querySelector('.help')).map(describe)).toEqual([])
})
