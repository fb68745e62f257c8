/** Looks at a page as a careful person would: axe's rules, what overlaps, is cut or scrolls sideways, where the focus is; and keeps a picture. */

import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'
import { projectRoot } from './server'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Puts axe into the page; once is enough as long as the page is not loaded anew. */
export async function addAxe(dom: Page): Promise<void> {
  await dom.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
}

/** What axe finds serious or critical within a part of the page: rule, element, reason. `rules`: only these. */
export async function violations(dom: Page, part = 'html', rules?: string[]): Promise<string[]> {
  return dom.evaluate(
    async ({ part, rules, tags }) => {
      const { axe: checker } = window as unknown as { axe: typeof axe }
      const element = [...document.querySelectorAll(part)].at(-1)
      if (!element) return [`There is no ${part}.`]
      const runOnly = rules ? { type: 'rule' as const, values: rules } : { type: 'tag' as const, values: tags }
      const found = await checker.run(element, { runOnly, resultTypes: ['violations'], preload: false })
      const grave = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      return grave.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} · ${[...node.any, ...node.all, ...node.none][0]?.message ?? ''}`))
    },
    { part, rules, tags: WCAG },
  )
}

/** What a look at the page finds wrong, in words; nothing when all stands where it must. */
export async function faults(dom: Page): Promise<string[]> {
  return dom.evaluate(() => {
    const found: string[] = []
    const root = document.documentElement
    if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth}`)
    if ((document.querySelector('main')?.innerText.length ?? 0) < 200) found.push('the page is blank')

    const nameOf = (element: Element) => `${(element as HTMLElement).dataset['testid'] ?? element.className} "${element.textContent?.trim().slice(0, 30)}"`
    const visible = (element: Element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0 && element.closest('.sr-only') === null
    const all = (selector: string, within: ParentNode = document) => [...within.querySelectorAll<HTMLElement>(selector)].filter(visible)

    for (const button of all('button, .button, summary, [role=menuitem]')) {
      // A name that only a screen reader hears has a box of one pixel.
      const words = [...button.childNodes].every((node) => node.nodeType === Node.TEXT_NODE || getComputedStyle(node as Element).position !== 'absolute')
      if (words && button.scrollWidth > button.clientWidth + 1) found.push(`cut: ${nameOf(button)} has ${button.clientWidth} of ${button.scrollWidth} px`)
    }
    const pen = document.createElement('canvas').getContext('2d')
    for (const select of all('select') as HTMLSelectElement[]) {
      const { font, paddingLeft, paddingRight } = getComputedStyle(select)
      if (!pen) break
      pen.font = font
      const arrow = 20
      const needs = pen.measureText(select.selectedOptions[0]?.text ?? '').width + parseFloat(paddingLeft) + parseFloat(paddingRight) + arrow
      if (needs > select.clientWidth + 1 && select.title === '') found.push(`cut: ${nameOf(select)} shows ${select.clientWidth} of ${Math.round(needs)} px`)
    }

    // What stands together in a bar or a head: boxes of controls, and lines of text.
    for (const place of all('.bar, .panel-head, .replay, .lesson, .tour, .tour-offer')) {
      const boxes = all('button, select, input:not(.sr-only, [type=range]), progress', place)
        .filter((each) => each.closest('[popover], .curve-choice, dialog') === null)
        .map((each) => ({ what: nameOf(each), element: each, box: each.getBoundingClientRect() }))
      const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement
        if (!parent || !node.textContent?.trim() || !visible(parent) || parent.closest('button, select, [popover], dialog, .sr-only, .worded span, .control-name')) continue
        const range = document.createRange()
        range.selectNodeContents(node)
        // Lines that a clamp cuts off have places, too, but nobody sees them.
        const end = parent.closest('.state-text')?.getBoundingClientRect().bottom ?? Infinity
        for (const box of range.getClientRects()) {
          if (box.top < end - 1) boxes.push({ what: `text "${node.textContent.trim().slice(0, 30)}"`, element: parent, box })
        }
      }
      for (const [i, a] of boxes.entries()) {
        for (const b of boxes.slice(i + 1)) {
          if (a.element.contains(b.element) || b.element.contains(a.element) || a.box.width < 2 || b.box.width < 2) continue
          const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left)
          const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)
          if (across > 2 && down > 2) found.push(`${a.what} overlaps ${b.what} by ${Math.round(across)} × ${Math.round(down)} px`)
        }
      }
    }
    return [...new Set(found)]
  })
}

/** The same once the page stands: a part that comes at this moment, or a new width, is not in its place within a frame. */
export async function lastingFaults(dom: Page): Promise<string[]> {
  let found = await faults(dom)
  for (let k = 0; k < 50 && found.length > 0; k++) {
    await dom.waitForTimeout(100)
    found = await faults(dom)
  }
  return found
}

/** A picture of what is in view, for people to look at: .cache/screens/NAME.png. */
export async function keepPicture(dom: Page, name: string): Promise<void> {
  const folder = join(projectRoot, '.cache/screens')
  await mkdir(folder, { recursive: true })
  await dom.screenshot({ path: join(folder, `${name}.png`) })
}

export interface Focus {
  id: string
  /** What a person who uses the keyboard would miss; empty when nothing. */
  wrong: string
}

/** What has the focus, whether that is seen, and whether it is in view. */
export async function focus(dom: Page): Promise<Focus> {
  return dom.evaluate(() => {
    const element = document.activeElement as HTMLElement | null
    if (!element || element === document.body) return { id: 'body', wrong: 'the focus is lost' }
    const name = element.dataset['testid'] ?? element.closest<HTMLElement>('[data-testid]')?.dataset['testid'] ?? element.className
    const lined = (each: Element) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(each)
      return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
    }
    // A radio button or a file field that is out of sight is drawn as the label around it.
    const label = element.closest('label, .group-choice')
    const wrongs = lined(element) || (label && lined(label)) ? [] : ['no outline']
    const shown = label && !lined(element) ? label : element
    const box = shown.getBoundingClientRect()
    const inView = [0.1, 0.5, 0.9].some((across) =>
      [0.15, 0.5, 0.85].some((down) => {
        const over = document.elementFromPoint(box.left + box.width * across, box.top + box.height * down)
        return over !== null && (shown.contains(over) || over.contains(shown) || label?.contains(over) === true)
      }),
    )
    if (!inView) wrongs.push(`out of view at ${Math.round(box.left)}, ${Math.round(box.top)}`)
    return { id: name, wrong: wrongs.length === 0 ? '' : `${name} ${element.tagName} "${element.textContent?.trim().slice(0, 30) ?? ''}": ${wrongs.join(', ')}` }
  })
}
