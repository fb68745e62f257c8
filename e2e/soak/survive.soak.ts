/** Twenty tabs that die at a random moment of their run: every resumed run equals the undisturbed one, bit for bit. */

import { expect, it } from 'vitest'
import { launchChromium } from '../browser/chromium'
import { startSite } from '../browser/server'
import { killedOnce, undisturbed } from '../browser/survive'
import { recordFigure } from '../tools/figures'

const KILLS = 20
/** Those of the short test are the first three. */
const FIRST_KEY = 4

it('twenty killed tabs cost nothing but time', async () => {
  const server = await startSite()
  const browser = await launchChromium()
  try {
    const { seconds, ...whole } = await undisturbed(browser, server.url)
    const steps: number[] = []
    for (let key = FIRST_KEY; key < FIRST_KEY + KILLS; key++) {
      const { at, after, ...resumed } = await killedOnce(browser, server.url, seconds, key)
      expect(resumed, `killed after ${after.toFixed(2)} s, resumed at step ${at}`).toEqual(whole)
      steps.push(at)
    }
    recordFigure({ test: 'survive', name: 'tabs killed and resumed bit for bit', value: steps.length, unit: 'tabs' })
    recordFigure({ test: 'survive', name: 'different steps that they were resumed at', value: new Set(steps).size, unit: 'steps' })
    expect(new Set(steps).size).toBeGreaterThan(2)
  } finally {
    await browser.close()
    await server.close()
  }
})
