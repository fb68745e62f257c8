/** Models of the Hub that stay in the browser, through the page: pause, reload, no network, the list, a full disk. */

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startStand, type HubPage, type HubStand } from './hub-page'

let stand: HubStand
let page: HubPage
beforeAll(async () => {
  stand = await startStand()
})
afterEach(async () => {
  await page.close()
  stand.hub.clearFaults()
  stand.hub.requests.length = 0
})
afterAll(() => stand.close())

/** The weights come up to this byte, and hardly any after it: what is pressed meanwhile comes in the middle of the download, however long it takes. */
function hardlyBeyond(byte: number) {
  stand.hub.clearFaults()
  stand.hub.fault({ kind: 'creep', byte, on: 'model.safetensors', at: 'cdn', times: 9 })
}
/** First bytes of the ranges of the weights that the CDN was asked for. */
const begins = () =>
  stand.hub.requests.flatMap(({ at, file, method, range }) => (at === 'cdn' && file === 'model.safetensors' && method === 'GET' ? [Number(/=(\d+)/.exec(range ?? '')?.[1])] : []))

/** Waits until more than so many bytes of the model have come. */
const loadedOver = (bytes: number) =>
  page.page.waitForFunction((enough) => {
    const { run } = window.playground.getState()
    return run.state === 'loading' && (run.overall?.done ?? 0) > enough
  }, bytes)

it('a storage that refuses costs a notice, not the model', async () => {
  page = await stand.open({ model: 'acme/tiny', precision: 'int8' })
  const session = await page.page.context().newCDPSession(page.page)
  await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(stand.url).origin, quotaSize: 500_000 })
  await page.lookUpLinked()
  await page.load()
  expect(await page.notices()).toEqual([expect.stringContaining("The browser's storage is full: acme/tiny is used without being stored any further")])
  await page.step()
  page.expectQuiet()
})

// The last one: it stops the Hub.
it('a download is paused and resumed, broken off by a reload and taken up again, and then needs no Hub', async () => {
  page = await stand.open({ model: 'acme/tiny', precision: 'int8' })
  await page.lookUpLinked()
  hardlyBeyond(600_000)
  await page.press('load-model')
  await loadedOver(300_000)
  await page.press('pause-load')
  const { run: paused } = await page.until('load-paused')
  if (paused.state !== 'load-paused') throw new Error('not paused')
  expect(paused.done).toBeGreaterThan(300_000)
  expect(await page.text('load-progress')).toContain('Download paused. What has come is kept')
  expect(await page.page.getByTestId('train').isDisabled()).toBe(true)
  expect(await page.stored()).toEqual([expect.stringMatching(/^acme\/tiny@\w{7}\d+ kB · partial/)])

  hardlyBeyond(900_000)
  stand.hub.requests.length = 0
  await page.press('resume-load')
  await page.until('loading')
  await expect.poll(begins).toHaveLength(1)
  const soFar = begins()[0] as number
  expect(soFar).toBeGreaterThan(200_000)
  // The small files count, too: more than these have come of the weights since.
  await loadedOver(soFar + 200_000)

  await page.page.reload()
  stand.hub.clearFaults()
  stand.hub.requests.length = 0
  await page.lookUpLinked()
  expect(await page.text('model')).toMatch(/of it are stored already/)
  await page.load()
  expect(Math.min(...begins())).toBeGreaterThan(soFar)
  const first = await page.step()
  expect(await page.stored()).toEqual([expect.stringMatching(/^acme\/tiny@\w{7}2\.0\d MB · complete/)])

  await stand.hub.stop()
  await page.page.reload()
  await page.lookUpLinked()
  expect(await page.text('model')).toContain('It is stored in this browser: nothing to download.')
  await page.load()
  expect((await page.step())['grad_norm']).toBe(first['grad_norm'])

  await page.stored()
  await page.press('delete-model')
  await page.press('delete-sure')
  await expect.poll(() => page.text('stored')).toContain('No model is stored here.')
})
