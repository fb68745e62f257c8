/** Which answers of a host mean that another program is served at the site's address, and what a visitor sees then. */

import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { isGone, START_PAGE_MARK, visit } from './host'

const SCOPE = 'http://localhost:8000/'
const OURS = `<html><head>${START_PAGE_MARK}</head><script src="./assets/index-2.js"></script>`

type Answer = [status: number, text?: string] | null

/** A host by path; null: it cannot be reached. */
function asked(answers: Record<string, Answer>) {
  const load = async (url: string, init: RequestInit = {}) => {
    expect(init.cache).toBe('reload')
    const answer = answers[url.slice(SCOPE.length)] ?? null
    if (answer === null) throw new TypeError('Failed to fetch')
    return new Response(answer[1] ?? '', { status: answer[0] })
  }
  return isGone({ scope: SCOPE, program: `${SCOPE}sw.js`, entry: 'assets/index-1.js', fetch: load })
}

it('the start page has the mark', () => {
  expect(readFileSync('index.html', 'utf8')).toContain(START_PAGE_MARK)
})

describe('isGone', () => {
  it.each<[string, Answer, Answer, boolean]>([
    ['is there', [200, OURS], [200], false],
    ['is there under a name of its own', [200, '<title>Mine</title><script src="./assets/index-1.js"></script>'], [200], false],
    ['cannot be reached', null, null, false],
    ['is cut off in the middle', [200, OURS], null, false],
    ['is down', [503, 'down'], [503], false],
    ['is down for the start page alone', [500], [200], false],
    ['wants a sign-in', [401], [401], false],
    ['has too many visitors', [429], [429], false],
    ['has lost its start page', [404], [200], false],
    ['is another program’s', [200, '<title>Other</title>'], [404], true],
    ['is another program’s, which answers every path', [200, '<title>Other</title>'], [200, '<title>Other</title>'], true],
    ['is another program’s without a start page', [404, '{"detail":"Not Found"}'], [404], true],
    ['is served without a service worker now', [200, OURS], [404], true],
    ['says that the service worker is gone for good', [200, OURS], [410], true],
  ])('a site that %s', async (_, start, program, gone) => {
    expect(await asked({ '': start, 'sw.js': program })).toBe(gone)
  })
})

it('asks for both at once: a visitor waits for the answer', async () => {
  const asked: string[] = []
  const load = (url: string) => {
    asked.push(url)
    return new Promise<never>(() => undefined)
  }
  void isGone({ scope: SCOPE, program: `${SCOPE}sw.js`, entry: 'assets/index-1.js', fetch: load })
  await Promise.resolve()
  expect(asked.sort()).toEqual([SCOPE, `${SCOPE}sw.js`])
})

describe('a visit', () => {
  const never = () => new Promise<never>(() => undefined)
  const pages = () => ({ kept: vi.fn(() => Promise.resolve(new Response('kept'))), fromHost: vi.fn(() => Promise.resolve(new Response('other'))) })

  it.each([
    [false, 'kept'],
    [true, 'other'],
  ])('where the host is another’s: %s', async (isOther, text) => {
    const { answer, gone } = visit({ ...pages(), isGone: () => Promise.resolve(isOther), patience: never })
    expect(await (await answer).text()).toBe(text)
    expect(await gone).toEqual({ gone: isOther, shown: isOther })
  })

  it('does not wait for a slow host, and still learns what it is', async () => {
    let tell: (gone: boolean) => void = () => undefined
    const { answer, gone } = visit({ ...pages(), isGone: () => new Promise((resolve) => (tell = resolve)), patience: () => Promise.resolve() })
    expect(await (await answer).text()).toBe('kept')
    tell(true)
    expect(await gone).toEqual({ gone: true, shown: false })
  })
})
