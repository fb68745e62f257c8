import { describe, expect, it, vi } from 'vitest'
import type { SandboxHost } from '../env/custom/sandbox-host'
import { createSandbox, isAllowed } from './sandbox-store'

const func = { name: 'custom', called: 'mine', code: 'function mine() { return [] }' } as const

describe('the sandbox of the page', () => {
  it('is made with the first word of a person, and its port goes to the engine once', async () => {
    const allow = vi.fn(() => Promise.resolve())
    const host: SandboxHost = { connect: () => new MessageChannel().port1, allow }
    const open = vi.fn(() => host)
    const send = vi.fn()
    const sandbox = createSandbox(send, open)
    expect([open.mock.calls.length, isAllowed(sandbox.store.getState(), func)]).toEqual([0, false])
    await sandbox.allow(func)
    await sandbox.allow({ ...func, code: 'other' })
    expect(open).toHaveBeenCalledOnce()
    expect(send.mock.calls).toEqual([[{ type: 'sandbox', port: expect.any(MessagePort) as MessagePort }]])
    expect(isAllowed(sandbox.store.getState(), func)).toBe(true)
  })

  it('takes a changed code, or the same under another name, as new', async () => {
    const sandbox = createSandbox(() => undefined, () => ({ connect: () => new MessageChannel().port1, allow: () => Promise.resolve() }))
    await sandbox.allow(func)
    const view = sandbox.store.getState()
    expect([isAllowed(view, { ...func, code: `${func.code} ` }), isAllowed(view, { ...func, called: 'other' })]).toEqual([false, false])
  })
})
