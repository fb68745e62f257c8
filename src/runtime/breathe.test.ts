import { afterEach, expect, it, vi } from 'vitest'
import { breathe } from './breathe'

/** Work without a pause, milliseconds. */
const work = (ms: number): void => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

it.each(['setImmediate', 'a message channel'])('lets a timer in within long work, by %s', async (by) => {
  if (by !== 'setImmediate') vi.stubGlobal('setImmediate', undefined)
  let came = false
  setTimeout(() => (came = true), 1)
  for (let k = 0; k < 60 && !came; k++) {
    work(2)
    await breathe()
  }
  expect(came).toBe(true)
})

it('is not noticed by short work', async () => {
  // A clock that stands still: a machine that is busy with others makes no work long.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10)
  await breathe()
  let came = false
  setTimeout(() => (came = true))
  for (let k = 0; k < 100; k++) await breathe()
  expect(came).toBe(false)
})
