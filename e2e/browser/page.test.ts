/** The whole page in a real Chromium on WASM: it trains, pauses, resets, and says what is wrong. */

import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { presetById } from '../../src/env/presets'
import { texNumber } from '../../src/panels/update/formula-tex'
import { launchChromium } from './chromium'
import { linkOf, openPlayground, type Playground } from './playground'
import { startSite, type RunningServer } from './server'

let browser: Browser
let server: RunningServer
let page: Playground | null = null
beforeAll(async () => {
  browser = await launchChromium()
  server = await startSite()
})
afterEach(async () => {
  await page?.close()
  page = null
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

const open = async (hash: string, at = server): Promise<Playground> => (page = await openPlayground(browser, at.url, hash))
const small = { env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 4, max_steps: 2, backend: 'wasm' }
/** Seven turns an episode: there is time to pause in a step. */
const long = { ...small, env: 'catch', num_generations: 8 }

describe('a run on WASM', () => {
  it('opens, becomes ready, and trains on Train until max_steps', async () => {
    const page = await open(linkOf(small))
    await page.until('ready')
    expect(await page.text('badge')).toMatch(/echo.*tiny-qwen3.*WASM × \d.*seed 7/)
    expect(await page.text('tools')).toContain('echo_message(message)')
    await page.press('train')
    const { run, history, steps, notices } = await page.until('finished')
    expect(run).toEqual({ state: 'finished', step: 2, reason: 'step-limit' })
    expect(notices.filter((n) => n.level === 'warning')).toEqual([])
    expect(history.map((h) => h.step)).toEqual([1, 2])
    for (const { metrics, episodes, unscorable, version, step } of history) {
      expect([episodes, unscorable, version]).toEqual([4, 0, step])
      expect(metrics['grad_norm']).toBeGreaterThanOrEqual(0)
      expect(metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-4)
      expect(metrics['reward']).toBeGreaterThanOrEqual(0)
    }

    // What is drawn is what happened.
    const { page: dom } = page
    expect(await page.text('state-line')).toBe('Finished · max_steps reached at step 2')
    const curve = dom.getByTestId('reward-curve')
    await expect.poll(() => curve.getAttribute('data-points')).toBe('2')
    await expect.poll(() => curve.locator('svg path').count()).toBeGreaterThan(0)
    await page.press('curves-table')
    expect(await dom.getByTestId('curve-table').locator('tbody tr').count()).toBe(2)
    const episodes = steps.at(-1)?.episodes ?? []
    const signs = (await page.text('advantages')).match(/[▲▼]/g) ?? []
    expect(signs).toHaveLength(episodes.filter((e) => (e.advantage ?? 0) !== 0).length)
    expect(signs.filter((sign) => sign === '▲')).toHaveLength(episodes.filter((e) => (e.advantage ?? 0) > 0).length)
    expect(await dom.locator('[data-metric="grad_norm"] dd').textContent()).toMatch(/\d/)
    for (const { index } of episodes) {
      expect(await dom.getByTestId(`episode-${index}`).getAttribute('data-outcome')).toMatch(/^(success|failure|budget|done)$/)
    }

    // The selected trajectory, token by token, with its authors.
    await dom.getByTestId('episode-2').getByRole('button').click()
    await page.press('toggle-prompt')
    const tokens = await dom.getByTestId('token').evaluateAll((nodes) =>
      nodes.map((node) => ({ author: node.dataset['author'], mask: node.dataset['mask'], text: node.textContent })),
    )
    expect(tokens).toHaveLength(episodes[2]?.length ?? 0)
    expect(tokens.every(({ author, mask }) => (mask === '1') === (author === 'model'))).toBe(true)
    expect(new Set(tokens.map((t) => t.author))).toEqual(new Set(['template', 'environment', 'model']))
    const text = (author: string) => tokens.flatMap((t) => (t.author === author ? t.text : [])).join('')
    expect(text('environment')).toMatch(/message "\w+( \w+)?"/)
    expect(text('model')).toContain('<|im_end|>')
    page.expectQuiet()
  })

  it('the formula’s contributions add up to the loss that was trained on, and a pressed token stands in it', async () => {
    const page = await open(linkOf({ ...small, env: 'lane', beta: 0.04, learning_rate: 0.01 }))
    await page.until('ready')
    await page.press('train')
    const { history } = await page.until('finished')
    const loss = history.at(-1)?.metrics['loss'] ?? 0
    expect(Math.abs(loss)).toBeGreaterThan(1e-6)
    const { page: dom } = page
    const card = dom.getByTestId('formula-numbers')
    await expect.poll(() => card.textContent()).toContain(`\\mathcal{L}&=${texNumber(loss)}`)

    await dom.locator('.segments [data-author="model"]').first().focus()
    await dom.keyboard.press('Enter')
    await expect.poll(() => card.getAttribute('data-kind')).toBe('equal')
    expect(await dom.locator('.formula .katex math').count()).toBe(2)
    expect(await dom.locator('.formula .katex-error').count()).toBe(0)
    await expect.poll(() => dom.evaluate(() => location.hash)).toMatch(/&position=\d+/)
    await dom.keyboard.press('Escape')
    await expect.poll(() => card.getAttribute('data-kind')).toBe('means')
    page.expectQuiet()
  })

  it('Step trains once; Pause holds a step in its middle, which goes on; Reset forgets', async () => {
    const page = await open(linkOf(long))
    await page.until('ready')
    await page.press('step')
    expect((await page.until('paused')).run).toEqual({ state: 'paused', step: 1 })
    expect(await page.text('state-line')).toMatch(/^Paused after step 1( ·|$)/)

    await page.trainIntoStep(2)
    expect(await page.text('state-line')).toMatch(/^Paused · Step 2 · sampling \d\/8/)
    const written = async () => (await page.state()).steps.at(-1)?.episodes.map((e) => e.length)
    const held = await written()
    await page.page.waitForTimeout(300)
    expect(await written()).toEqual(held)
    expect((await page.state()).history).toHaveLength(1)
    expect(await page.text('train')).toContain('Resume')
    await page.press('train')
    const { history } = await page.until('finished')
    expect(history.map((h) => h.step)).toEqual([1, 2])

    await page.press('reset')
    const fresh = await page.until('ready')
    expect([fresh.history, fresh.steps]).toEqual([[], []])
    await expect.poll(() => page.page.getByTestId('reward-curve').getAttribute('data-points')).toBe('0')
    // The same seed: the first step is the same once more.
    await page.press('step')
    const again = await page.until('paused')
    expect(again.history[0]?.metrics['reward']).toBe(history[0]?.metrics['reward'])
    expect(again.history[0]?.metrics['grad_norm']).toBe(history[0]?.metrics['grad_norm'])

    await page.trainIntoStep(2)
    await page.press('reset')
    expect((await page.until('ready')).steps).toEqual([])
    page.expectQuiet()
  })

  it('takes changed settings over, and evaluates', async () => {
    const page = await open(linkOf(small))
    await page.until('ready')
    await page.page.getByTestId('setting-num_generations').fill('3')
    await page.page.getByTestId('setting-max_steps').fill('1')
    await page.press('train')
    const { history, config } = await page.until('finished')
    expect(config?.grpo).toMatchObject({ num_generations: 3, max_steps: 1 })
    expect(history.map((h) => h.episodes)).toEqual([3])
    await expect.poll(() => page.page.url()).toContain('num_generations=3')
    const result = await page.page.evaluate(() => window.playground.evaluate(4))
    expect(result).toMatchObject({ episodes: 4, train: expect.any(Number) as number, heldOut: expect.any(Number) as number })
    page.expectQuiet()
  })
})

it('chat answers with the tools, by both models, and stops', async () => {
  const page = await open(linkOf(small))
  await page.until('ready')
  await page.press('chat-open')
  const { page: dom } = page
  const answers = dom.getByTestId('chat-answer')
  const ended = () => answers.evaluateAll((nodes) => nodes.map((node) => node.dataset['ended']))
  await dom.getByTestId('chat-tools').check()
  await dom.getByTestId('chat-text').fill('Go on.')
  await page.press('chat-both')
  await expect.poll(ended).toEqual(['end-of-turn', 'end-of-turn'])
  expect(await answers.evaluateAll((nodes) => nodes.map((node) => node.dataset['adapter']))).toEqual(['off', 'current'])
  const [base, lora] = await answers.allTextContents()
  // A fresh LoRA changes nothing, and both played the same episode with the same random numbers.
  expect(lora?.replace('With LoRA', '')).toBe(base?.replace('Base model', ''))
  expect(base).toMatch(/message "\w+[^]*<tool_call>/)

  await dom.getByTestId('chat-tools').uncheck()
  // Hot enough to go on for some hundred milliseconds. It is stopped from inside the page as soon as it can be, and the worker hears of both at once: a
  // page that was kept from the processor in between would stop what has ended.
  await dom.getByTestId('chat-temperature').fill('5')
  await dom.getByTestId('chat-text').fill('Hello')
  await dom.evaluate(() => {
    const post = Worker.prototype.postMessage as (this: Worker, message: { type?: string }) => void
    let ask = () => {}
    Worker.prototype.postMessage = function (this: Worker, message: { type?: string }) {
      if (message.type === 'chat') return void (ask = () => post.call(this, message))
      if (message.type === 'chat-stop') ask()
      post.call(this, message)
    }
    const observer = new MutationObserver(() => {
      const button = document.querySelector<HTMLButtonElement>('[data-testid="chat-stop"]')
      if (!button) return
      observer.disconnect()
      button.click()
    })
    observer.observe(document.body, { childList: true, subtree: true })
  })
  await dom.getByTestId('chat-text').press('Enter')
  await expect.poll(ended).toEqual(['end-of-turn', 'end-of-turn', 'stopped'])
  await page.press('step')
  expect((await page.until('paused')).history).toHaveLength(1)
  page.expectQuiet()
})

it('without the isolation headers it trains on one thread', async () => {
  const plain = await startSite({ isolated: false })
  try {
    const page = await open(linkOf({ ...small, max_steps: 1 }), plain)
    await page.until('ready')
    expect(await page.text('badge')).toContain('WASM × 1')
    await page.press('train')
    expect((await page.until('finished')).history).toHaveLength(1)
    page.expectQuiet()
  } finally {
    await plain.close()
  }
})

describe('what goes wrong is said in a sentence, and the page goes on', () => {
  /** After the failure: the echo game is chosen, loads, and trains a step. */
  async function expectUsable(page: Playground): Promise<void> {
    await page.after(() => page.page.getByTestId('preset-select').selectOption('echo'), 'ready')
    expect(await page.page.getByTestId('failure').count()).toBe(0)
    await page.page.getByTestId('setting-prompts_per_step').fill('1')
    await page.press('step')
    expect((await page.until('paused')).history).toHaveLength(1)
  }

  it('a broken link', async () => {
    const page = await open(linkOf({ ...small, learning_rate: 'fast', num_generations: 1, colour: 'red' }))
    const { config } = await page.until('ready')
    const { learning_rate, num_generations } = presetById('echo').grpo
    const said = (await page.page.getByRole('alert').allTextContents()).join(' ')
    expect(said).toContain('learning_rate')
    expect(said).toContain('num_generations')
    expect(said).toContain('colour')
    expect(config?.grpo).toMatchObject({ learning_rate, num_generations, seed: 7 })
    page.expectQuiet()
  })

  it('a link of another version', async () => {
    const page = await open('#v=99&env=echo')
    const { config } = await page.until('ready')
    expect((await page.page.getByRole('alert').allTextContents()).join(' ')).toContain('version "99"')
    expect(config?.environment).toEqual({ kind: 'builtin', name: 'lane' })
    page.expectQuiet()
  })

  it('a model folder that is not there', async () => {
    const page = await open(linkOf({ ...small, model: 'models/none' }))
    const { run } = await page.until('failed')
    expect(run).toMatchObject({ state: 'failed', error: expect.stringContaining('models/none') as string })
    expect(await page.text('failure')).toMatch(/models\/none.*\. [A-Z].*\.$/)
    await expectUsable(page)
    expect(page.pageErrors).toEqual([])
    expect(page.failedRequests.filter((line) => !line.includes('models/none'))).toEqual([])
  })

  it('a server that cannot be reached', async () => {
    const page = await open(linkOf({ ...small, env: 'ws://127.0.0.1:9' }))
    // A link connects to nothing by itself.
    await page.page.waitForTimeout(300)
    expect((await page.state()).run).toMatchObject({ state: 'loading', what: '' })
    expect(await page.text('state-line')).toContain('Press Connect')
    await page.press('connect')
    expect((await page.until('failed')).run).toMatchObject({ error: expect.stringContaining('127.0.0.1:9') as string })
    await expectUsable(page)
    expect(page.pageErrors).toEqual([])
  })
})
