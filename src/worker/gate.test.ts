import { afterEach, describe, expect, it, vi } from 'vitest'
import { Gate } from './gate'

/** A gate that counts arrivals, and whether somebody has passed. */
function gate() {
  let waits = 0
  const made = new Gate(() => waits++)
  const passer = () => {
    const seen = { passed: false }
    void made.pass().then(() => (seen.passed = true))
    return seen
  }
  return { made, passer, waits: () => waits }
}

const settle = () => new Promise((resolve) => setTimeout(resolve))

describe('Gate', () => {
  it('lets pass when open, and says nothing', async () => {
    const { made, passer, waits } = gate()
    made.open()
    const one = passer()
    await settle()
    expect([one.passed, waits()]).toEqual([true, 0])
  })

  it('holds whoever arrives while it is closed, says so once, and lets all go when opened', async () => {
    const { made, passer, waits } = gate()
    made.close()
    made.close()
    const one = passer()
    await settle()
    expect([one.passed, waits()]).toEqual([false, 1])
    const two = passer()
    made.open()
    await settle()
    expect([one.passed, two.passed]).toEqual([true, true])
  })

  it('holds again when it was closed before anybody went on', async () => {
    const { made, passer, waits } = gate()
    made.close()
    const one = passer()
    made.open()
    made.close()
    await settle()
    expect([one.passed, waits()]).toEqual([false, 2])
    made.open()
    await settle()
    expect(one.passed).toBe(true)
  })

  describe('with a pace', () => {
    afterEach(() => void vi.useRealTimers())

    it('lets the next tick pass when it is due, by its clock, and none but a tick is waited after', async () => {
      vi.useFakeTimers()
      let now = 100
      const made = new Gate(() => undefined, () => now)
      made.pace(60)
      await made.pass()
      made.tick()
      now = 140
      let passed = false
      void made.pass().then(() => (passed = true))
      await vi.advanceTimersByTimeAsync(19)
      expect(passed).toBe(false)
      now = 160
      await vi.advanceTimersByTimeAsync(1)
      expect(passed).toBe(true)
      await made.pass()
    })

    it('is closed at once while it waits for a tick, and quickened by another pace', async () => {
      const { made, passer, waits } = gate()
      made.pace(60_000)
      made.tick()
      const one = passer()
      await settle()
      expect([one.passed, waits()]).toEqual([false, 0])
      made.close()
      await settle()
      expect([one.passed, waits()]).toEqual([false, 1])
      made.open()
      await settle()
      expect(one.passed).toBe(false)
      made.pace(0)
      await settle()
      expect([one.passed, waits()]).toEqual([true, 1])
    })
  })
})
