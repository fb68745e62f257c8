// @vitest-environment happy-dom
import { act } from 'react'
import { expect, it, vi } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { ARTICLE_STRINGS } from '../../ui/article-strings'
import { EXPLAINERS } from '../../ui/explainers'
import { SOURCES } from '../../ui/explainers/sources'
import { eventually, mount } from '../testing/mount'
import { Article } from './Article'
import { ArticleLater } from './ArticleLater'
import { readMarks } from './marks'

const paragraphs = ARTICLE_STRINGS.sections.flatMap((section) => section.paragraphs.filter((p) => typeof p === 'string'))

const open = (hash = '') =>
  mount(
    (stores) => (
      <StoresProvider stores={stores}>
        <section data-testid="panel-group" />
        <Article />
      </StoresProvider>
    ),
    hash,
  )

it('reads the marks of a paragraph and leaves all else as it is', () => {
  expect(readMarks('a [b c](see:group), *d* `e_f` [g](to:ppo) 2 * 3.')).toEqual([
    { kind: 'text', text: 'a ' },
    { kind: 'see', text: 'b c', target: 'group' },
    { kind: 'text', text: ', ' },
    { kind: 'strong', text: 'd' },
    { kind: 'text', text: ' ' },
    { kind: 'code', text: 'e_f' },
    { kind: 'text', text: ' ' },
    { kind: 'to', text: 'g', target: 'ppo' },
    { kind: 'text', text: ' 2 * 3.' },
  ])
})

it('leads only to panels and sources that there are', () => {
  const pieces = paragraphs.flatMap(readMarks)
  const targets = (kind: string) => pieces.flatMap((piece) => (piece.kind === kind && 'target' in piece ? [piece.target] : []))
  expect(targets('see').filter((id) => !(`panel:${id}` in EXPLAINERS))).toEqual([])
  expect(targets('to').filter((key) => !(key in SOURCES))).toEqual([])
  expect(new Set(targets('see')).size).toBeGreaterThanOrEqual(6)
})

it('has 600 to 900 words', () => {
  const words = paragraphs.flatMap((p) => readMarks(p).map(({ text }) => text)).join('').split(/\s+/)
  expect(words.length).toBeGreaterThanOrEqual(600)
  expect(words.length).toBeLessThanOrEqual(900)
})

it('has its headings in order, its formulas without a mistake, its links outside in tabs of their own', async () => {
  const page = await open()
  expect([...page.host.querySelectorAll('h1, h2, h3, h4')].map(({ tagName }) => tagName)).toEqual(['H2', ...Array<string>(ARTICLE_STRINGS.sections.length + 1).fill('H3')])
  await eventually(() => expect(page.host.querySelectorAll('.katex math')).toHaveLength(2))
  expect(page.host.querySelector('.katex-error')).toBeNull()
  for (const link of page.host.querySelectorAll('a')) expect([link.target, link.rel, link.href]).toEqual(['_blank', 'noopener noreferrer', expect.stringMatching(/^https?:/)])
})

it('leads to a panel: it has the focus and is marked for a moment', async () => {
  vi.useFakeTimers()
  const page = await open()
  const scrolled = vi.spyOn(HTMLElement.prototype, 'scrollIntoView').mockImplementation(() => {})
  await page.press(page.host.querySelector<HTMLElement>('[data-see="group"]'))
  const panel = page.find('panel-group')
  expect(document.activeElement).toBe(panel)
  expect(scrolled).toHaveBeenCalledOnce()
  expect(panel?.className).toContain('pointed-at')
  vi.runAllTimers()
  expect(panel?.className).not.toContain('pointed-at')
  vi.useRealTimers()
})

it('has words only where the panel is hidden', async () => {
  const page = await open('#v=1&env=lane&hide=group')
  expect(page.host.querySelector('[data-see="group"]')).toBeNull()
  expect(page.find('article')?.textContent).toContain('See the group')
})

it('is fetched when a person comes near, not before', async () => {
  let come: (entries: { isIntersecting: boolean }[]) => void = () => {}
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(callback: typeof come) {
        come = callback
      }
      observe() {}
      disconnect() {}
    },
  )
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <ArticleLater />
    </StoresProvider>
  ))
  await act(async () => come([{ isIntersecting: false }]))
  expect(page.find('article')).toBeNull()
  await act(async () => come([{ isIntersecting: true }]))
  await page.until('article')
  vi.unstubAllGlobals()
})
