// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createStores } from './create'
import { followLeaving } from './leaving'
import { scriptedPort } from './testing/script'

afterEach(() => vi.restoreAllMocks())

describe('a page that is left', () => {
  it('asks at its start what was kept, and keeps the run when it is hidden or left', () => {
    const port = scriptedPort()
    followLeaving(createStores(port, '', { now: () => 0, schedule: (callback) => callback() }))
    expect(port.sent).toEqual([{ type: 'list-runs' }])
    const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
    document.dispatchEvent(new Event('visibilitychange'))
    expect(port.sent.slice(1)).toEqual([{ type: 'save' }])
    visibility.mockReturnValue('visible')
    document.dispatchEvent(new Event('visibilitychange'))
    expect(port.sent).toHaveLength(2)
    window.dispatchEvent(new Event('pagehide'))
    expect(port.sent.at(-1)).toEqual({ type: 'save' })
  })
})
