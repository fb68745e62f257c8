/** Code and rows of a person's own in a real Chromium: nothing runs before Allow, a class trains in a sandbox that has no network but granted hosts, a rollout_func generates. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { linkOf, openPlayground } from './playground'
import { startSite, type RunningServer } from './server'

let browser: Browser
let server: RunningServer
let granted: Host
let other: Host
beforeAll(async () => {
  other = await startHost('')
  ;[browser, server, granted] = await Promise.all([launchChromium(), startSite(), startHost(`${other.url}/away`)])
})
afterAll(async () => {
  await browser.close()
  for (const host of [granted, other]) host.close()
  await server.close()
})

interface Host {
  url: string
  /** Who asked for what. */
  asked: string[]
  close(): void
}

/** A server that lets every page ask, but at /shut; it sends /away on to another. */
async function startHost(away: string): Promise<Host> {
  const asked: string[] = []
  const host = createServer(({ url = '', headers, method }, response) => {
    asked.push(`${method} ${url} from ${headers.origin}`)
    const cors = { 'Access-Control-Allow-Origin': '*' }
    if (url === '/away') response.writeHead(302, { ...cors, Location: away }).end()
    else if (url === '/shut') response.writeHead(200).end('{}')
    else response.writeHead(200, { ...cors, 'Content-Type': 'application/json' }).end('{"reward":0.75}')
  })
  await new Promise<void>((listening) => host.listen(0, '127.0.0.1', listening))
  const close = () => {
    host.closeAllConnections()
    host.close()
  }
  return { url: `http://127.0.0.1:${(host.address() as AddressInfo).port}`, asked, close }
}

// Its tools are those that the shipped model calls.
const CLASS = `class Probe {
  async reset() {
    const network = await fetch(${'`${location.origin}/`'}).then(() => 'open', () => 'closed')
    return [self.origin, network, typeof document, typeof postMessage, typeof Object.getPrototypeOf(self).postMessage].join(' ')
  }
  /** Look again. */
  observe() {
    this.done = true
    return 'Seen.'
  }
  /** Stop. */
  emergency_stop() {
    return this.observe()
  }
  get_reward() {
    return 0.25
  }
}`
// It asks in every way that there is, and tells what became of it.
const networked = (own: string, foreign: string) => `class Net {
  async reset() {
    const said = (what) => what.then((answer) => typeof answer === 'string' ? answer : 'open', (error) => error.message)
    const loads = (made, name) => new Promise((done) => { made.onopen = made.onload = () => done(name + ' open'); made.onerror = () => done(name + ' shut') })
    const xhr = new XMLHttpRequest()
    xhr.open('GET', '${foreign}/xhr')
    const asked = loads(xhr, 'xhr')
    try { xhr.send() } catch {}
    const nested = (to) => new Promise((done) => {
      const worker = new Worker(URL.createObjectURL(new Blob(["fetch('" + to + "').then(() => postMessage('nested open'), () => postMessage('nested shut'))"])))
      worker.onmessage = ({ data }) => done(data)
      worker.onerror = () => done('nested shut')
    })
    const socket = (to, name) => { try { return loads(new WebSocket(to.replace('http', 'ws')), name) } catch { return name + ' shut' } }
    const seen = await Promise.all([
      said(fetch('${own}/again').then((answer) => answer.text())),
      said(fetch('${foreign}/fetch')),
      // One after the other: the browser names only the host whose request it refused.
      said(fetch('${own}/away')).then(async (away) => [away, await said(fetch('${own}/shut'))]),
      asked, nested('${foreign}/nested'), socket('${foreign}', 'socket'), socket('${own}', 'own socket'), loads(new EventSource('${foreign}/events'), 'events'),
      said(import('${own}/code.js')).then((message) => 'import ' + (message === 'open' ? 'open' : 'shut')),
      typeof navigator.sendBeacon, typeof RTCPeerConnection,
    ])
    for (const each of seen.flat()) console.log('seen: ' + each)
  }
  /** Look again. */
  observe() {
    this.done = true
  }
  async get_reward() {
    return (await (await fetch('${own}/judge')).json()).reward
  }
}`
const ROLLOUT = `async function rollout_func(prompts, trainer) {
  const out = await trainer.generate(prompts)
  for (const row of prompts.keys()) {
    const session = await trainer.environment.open(row)
    await session.reset()
    const { tool_calls } = await trainer.parse_tool_calls(out.text[row])
    if (tool_calls[0]) await session.step(tool_calls[0].name, tool_calls[0].arguments)
  }
  return out
}`
/** The 10 s of a call of get_reward, which from now on does not end, pass in one; other calls, however slow the machine, keep all of theirs. */
async function hurry(page: Page): Promise<void> {
  const sandboxes = page.frames().slice(1)
  expect(sandboxes).not.toEqual([])
  for (const frame of sandboxes) {
    await frame.evaluate(() => {
      const wait = window.setTimeout.bind(window)
      const post = Worker.prototype.postMessage as (this: Worker, call: unknown) => void
      let end = () => {}
      window.setTimeout = ((act: () => void, ms?: number) => {
        if (ms === 10_000) end = act
        return wait(act, ms)
      }) as typeof window.setTimeout
      Worker.prototype.postMessage = function (this: Worker, call: unknown) {
        post.call(this, call)
        if (JSON.stringify(call).includes('"get_reward"')) wait(end, 1000)
      }
    })
  }
}
const small = { seed: 7, prompts_per_step: 1, num_generations: 2, max_steps: 2, max_completion_length: 64, backend: 'wasm' }

it('a class and a rollout_func of a link run once they were allowed, with no network but granted hosts', async () => {
  const spec = JSON.stringify({ kind: 'custom', called: 'Probe', code: CLASS })
  const playground = await openPlayground(browser, server.url, linkOf({ ...small, env: 'custom', env_spec: spec, rollout_func: JSON.stringify({ called: 'rollout_func', code: ROLLOUT }) }))
  const { page, press, until, after, state } = playground
  await page.getByTestId('allow-linked').first().waitFor()
  expect([page.frames().length, (await state()).environment]).toEqual([1, null])
  expect(await page.locator('.linked-code').allTextContents()).toEqual([CLASS, ROLLOUT])
  await after(() => press('allow-linked'), 'ready')
  await press('train')
  const { steps, config } = await until('finished')
  expect(steps.map(({ episodes }) => episodes.map(({ reward, turn }) => [reward, turn]))).toEqual([[[0.25, 0], [0.25, 0]], [[0.25, 0], [0.25, 0]]])
  expect(config?.rollout_func?.called).toBe('rollout_func')

  await page.locator('summary', { hasText: /^Sampling$/ }).first().click()
  await press('remove-rollout')
  await after(() => press('reset'), 'ready')
  await press('train')
  const { history, steps: own } = await until('finished')
  expect(history.map(({ episodes, unscorable }) => [episodes, unscorable])).toEqual([[2, 0], [2, 0]])
  expect(own.at(-1)?.episodes.map(({ reward }) => reward)).toEqual([0.25, 0.25])

  // By hand: an episode that is ended before its own end is judged, too.
  await press('play-open')
  await press('play-reset')
  await expect.poll(() => page.getByTestId('observation').textContent()).toContain('null closed undefined undefined undefined')
  await press('play-end')
  await expect.poll(() => page.getByTestId('play-episode').textContent()).toContain('0.25')
  await press('play-reset')
  await page.locator('[data-testid="play-tool-observe"] button').last().click()
  await expect.poll(() => page.getByTestId('play-done').textContent()).toBe('yes')

  // What reset found: an opaque origin, no network, no document, no way to answer in the sandbox's place.
  await press('write-class')
  await press('try-class')
  await expect.poll(() => page.getByTestId('try-entries').textContent()).toContain('null closed undefined undefined undefined')
  await press('close-class-editor')

  // A link that asks for hosts reaches nobody before Allow, and these alone after it.
  const net = networked(granted.url, other.url)
  const asks = linkOf({ ...small, max_steps: 1, env: 'custom', env_spec: JSON.stringify({ kind: 'custom', called: 'Net', code: net }), network_hosts: granted.url })
  const frames = page.frames().length
  await page.evaluate((hash) => (location.hash = hash), asks)
  await expect.poll(() => page.getByTestId('linked-network').first().textContent()).toContain(granted.url)
  expect([page.frames().length - frames, granted.asked, other.asked]).toEqual([0, [], []])
  await press('allow-linked')
  await after(() => press('connect-anyway'), 'ready')
  await press('train')
  const { steps: judged } = await until('finished')
  expect(judged.at(-1)?.episodes.map(({ reward }) => reward)).toEqual([0.75, 0.75])
  expect(new Set(granted.asked)).toContain('GET /judge from null')

  await press('write-class')
  await press('try-class')
  const entries = () => page.getByTestId('try-entries').textContent()
  await expect.poll(entries).toContain('seen: undefined')
  const lines = ((await page.locator('.try-entries .reward-logs').textContent()) ?? '').split('\n')
  expect(lines.flatMap((line) => (line.startsWith('seen: ') ? [line.slice(6)] : []))).toEqual([
    '{"reward":0.75}',
    `The code asked ${other.url}, which is not among its hosts (${granted.url}). Grant the host: network_hosts, beside the code under Network.`,
    `${granted.url} sent the request on to a host that is not among those of the code (${granted.url}). Grant that one, too: network_hosts, beside the code under Network.`,
    expect.stringContaining(`${granted.url} gave no answer that this page may read`),
    'xhr shut',
    'nested shut',
    'socket shut',
    'own socket shut',
    'events shut',
    'import shut',
    'undefined',
    'undefined',
  ])
  expect(lines.filter((line) => !line.startsWith('seen: ')).join('\n')).toContain(`The code asked ${other.url.replace('http', 'ws')}, which no host opens`)
  expect(granted.asked.filter((each) => each.includes('code.js'))).toEqual([])

  // Another list is another sandbox, in which nothing is allowed yet.
  await page.getByTestId('network-host').fill('https://*.example.org')
  await press('network-add')
  await expect.poll(() => page.getByTestId('network-field').textContent()).toContain('every host is named by itself')
  await page.getByTestId('network-field').getByRole('button', { name: `Remove ${granted.url}` }).click()
  await expect.poll(() => page.getByTestId('try-class').textContent()).toBe('Allow and reset')
  const before = granted.asked.length
  await press('try-class')
  await expect.poll(entries).toContain(`The code asked ${granted.url} and has no network.`)
  expect([granted.asked.length, other.asked]).toEqual([before, []])
  await playground.close()
})

it('a loop without an end ends with its worker, by its name and line; the page lives on', async () => {
  const spec = JSON.stringify({ kind: 'custom', called: 'Probe', code: CLASS })
  const playground = await openPlayground(browser, server.url, linkOf({ ...small, env: 'custom', env_spec: spec }))
  const { page, press, until, after, state } = playground
  await after(() => press('allow-linked'), 'ready')
  await press('train')
  await until('finished')
  await press('write-class')
  const editor = page.locator('[data-testid="class-code"] .cm-content')
  await editor.fill(CLASS.replace('return 0.25', 'for (;;) {}'))
  await press('use-class')
  // Asked where the press was. Whoever keeps the run instead keeps what was written, too.
  await page.getByTestId('class-editor').getByTestId('keep-run').click()
  await press('write-class')
  await expect.poll(() => editor.textContent()).toContain('for (;;) {}')
  await press('use-class')
  await after(() => press('connect-anyway'), 'ready')
  await hurry(page)
  await press('train')
  await expect.poll(async () => JSON.stringify(await state())).toContain('Probe.get_reward (line 15) took longer than 10 s and was ended.')
  await page.getByTestId('state-line').waitFor()
  await playground.close()
})

it('rows that are pasted train the model that can answer them, with the settings as they were, and show their judges’ curves', async () => {
  const rows = [[17, 2], [23, 4], [41, 3]].map(([a = 0, b = 0]) => JSON.stringify({ prompt: `${a} + ${b} =`, solution: String(a + b) }))
  const playground = await openPlayground(browser, server.url, linkOf({ ...small, env: 'lane', num_generations: 4, max_steps: 1, max_completion_length: 16, curves: 'reward,rewards/accuracy_reward/mean' }))
  const { page, press, until, state, text } = playground
  await page.getByTestId('preset-select').selectOption('prompts')
  expect(await text('still')).toContain('Still lane')
  await page.locator('[data-testid="prompts-origin"] label', { hasText: 'Your own' }).click()
  await page.getByTestId('prompts-text').fill(rows.join('\n'))
  await press('prompts-show')
  await press('take-numbers')
  await press('prompts-use')
  await press('take-box')
  await expect.poll(async () => (await state()).environment?.spec.kind).toBe('prompts')
  await press('train')
  const { steps, config } = await until('finished')
  expect(config).toMatchObject({ model: 'models/tiny-qwen3-numbers', system_prompt: 'Answer in a box.', grpo: { num_generations: 4, max_completion_length: 16 } })
  expect(steps[0]?.episodes.map(({ parts }) => Object.keys(parts ?? {}))).toEqual(Array(4).fill(['accuracy_reward']))
  const curve = page.locator('[data-curve-figure="rewards/accuracy_reward/mean"]')
  await expect.poll(() => curve.getAttribute('data-points')).toBe('1')
  // Train pressed in mid-load hands the new settings over, and ends what came for the old ones.
  playground.failedRequests.splice(0, Infinity, ...playground.failedRequests.filter((line) => !line.startsWith('net::ERR_ABORTED')))
  playground.expectQuiet()
  await playground.close()
})
