import { describe, expect, it, vi } from 'vitest'
import type { SandboxHost } from '../env/custom/sandbox-host'
import { createSandbox, isAllowed } from './sandbox-store'

const func = { name: 'custom', called: 'mine', code: 'function mine() { return [] }' } as const
const A = 'https://a.example'
const B = 'https://b.example'

function prepare() {
  const allow = vi.fn(() => Promise.resolve())
  const host: SandboxHost = { connect: () => new MessageChannel().port1, allow }
  const open = vi.fn(() => host)
  const send = vi.fn()
  return { sandbox: createSandbox(send, open), open, send, allow }
}

describe('the sandbox of the page', () => {
  it('is made with the first word of a person, and its port goes to the engine once', async () => {
    const { sandbox, open, send } = prepare()
    expect([open.mock.calls.length, isAllowed(sandbox.store.getState(), func, [])]).toEqual([0, false])
    expect(() => sandbox.at([])).toThrow('was not allowed to run')
    await sandbox.allow(func, [])
    await sandbox.allow({ ...func, code: 'other' }, [])
    expect(open).toHaveBeenCalledOnce()
    expect(send.mock.calls).toEqual([[{ type: 'sandbox', hosts: [], port: expect.any(MessagePort) as MessagePort }]])
    expect(isAllowed(sandbox.store.getState(), func, [])).toBe(true)
    expect(sandbox.at([])).toBeDefined()
  })

  it('takes a changed code, or the same under another name, as new', async () => {
    const { sandbox } = prepare()
    await sandbox.allow(func, [])
    const view = sandbox.store.getState()
    expect([isAllowed(view, { ...func, code: `${func.code} ` }, []), isAllowed(view, { ...func, called: 'other' }, [])]).toEqual([false, false])
  })

  it('is another for other hosts, in which nothing is allowed yet', async () => {
    const { sandbox, open, send } = prepare()
    await sandbox.allow(func, [])
    expect([isAllowed(sandbox.store.getState(), func, [A]), open.mock.calls.length]).toEqual([false, 1])
    expect(() => sandbox.at([A])).toThrow('was not allowed to run')
    await sandbox.allow(func, [A, B])
    const view = sandbox.store.getState()
    expect([[], [A], [B, A]].map((hosts) => isAllowed(view, func, hosts))).toEqual([true, false, true])
    expect(open.mock.calls).toEqual([[[]], [[A, B]]])
    expect(send.mock.calls.map(([command]) => (command as { hosts: string[] }).hosts)).toEqual([[], [A, B]])
    // The order in which they are listed is no other grant.
    await sandbox.allow(func, [B, A])
    expect(open).toHaveBeenCalledTimes(2)
    expect(sandbox.at([B, A])).not.toBe(sandbox.at([]))
  })
})
