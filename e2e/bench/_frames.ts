/** How the page paints while it trains: time between frames, and its longest task. */

import type { Page } from 'playwright-core'

export interface Frames {
  count: number
  /** Of the times between two frames, ms. */
  median: number
  p95: number
  longest: number
  /** Share of them under 50 ms, 0..1. */
  under50: number
  /** Longest task of the page's own thread, ms; 0 where none took 50. */
  longestTask: number
}

interface FrameWatch {
  times: number[]
  longestTask: number
  on: boolean
}

declare global {
  interface Window {
    frameWatch: FrameWatch
  }
}

/** Begins to count; ends the count before it, if any. */
export async function watchFrames(page: Page): Promise<void> {
  await page.evaluate(() => {
    if ('frameWatch' in window) window.frameWatch.on = false
    const watch: FrameWatch = { times: [], longestTask: 0, on: true }
    window.frameWatch = watch
    new PerformanceObserver((list) => {
      if (watch.on) for (const { duration } of list.getEntries()) watch.longestTask = Math.max(watch.longestTask, duration)
    }).observe({ type: 'longtask' })
    let last = 0
    const loop = {
      frame(now: number) {
        if (!watch.on) return
        if (last > 0) watch.times.push(now - last)
        last = now
        requestAnimationFrame(loop.frame)
      },
    }
    requestAnimationFrame(loop.frame)
  })
}

/** Ends the count. */
export async function framesSince(page: Page): Promise<Frames> {
  const { times, longestTask } = await page.evaluate(() => {
    window.frameWatch.on = false
    return { times: window.frameWatch.times, longestTask: window.frameWatch.longestTask }
  })
  return { ...statistics(times), longestTask }
}

/** Of times between frames, ms. NaN where there is none. */
export function statistics(times: readonly number[]): Omit<Frames, 'longestTask'> {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
  return {
    count: sorted.length,
    median: at(0.5),
    p95: at(0.95),
    longest: sorted.at(-1) ?? NaN,
    under50: sorted.length === 0 ? NaN : sorted.filter((time) => time < 50).length / sorted.length,
  }
}
