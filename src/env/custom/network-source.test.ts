/** What a worker of the sandbox tells of refused requests, run here with a fetch that a policy of these hosts would make. */

import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { before, LINES_BEFORE, sandboxPage, sandboxPolicy } from './sandbox-source'

const A = 'https://a.example'

type Listener = (event: { effectiveDirective: string; blockedURI: string }) => void

/** The beginning of a worker's program. `answer` is what the browser's own fetch does. */
function worker(hosts: readonly string[], answer: (report: Listener) => Promise<unknown>) {
  const listeners: Listener[] = []
  const self = {
    name: hosts.join(' '),
    postMessage: () => undefined,
    addEventListener: (_: string, listener: Listener) => listeners.push(listener),
    fetch: (): Promise<unknown> => answer((event) => listeners.forEach((each) => each(event))),
  }
  const logs = runInNewContext(`${before('return logs;')}\n__own`, { self, console: {}, URL, setTimeout, TypeError }) as string[]
  return { fetch: self.fetch as unknown as (to: unknown) => Promise<unknown>, logs }
}
const failed = () => Promise.reject(new TypeError('Failed to fetch'))

describe('the policy of the sandbox', () => {
  it('is shut without hosts, and names them alone with some', () => {
    expect(sandboxPolicy([])).toBe("default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:")
    expect(sandboxPolicy([A, 'http://localhost:8000'])).toBe(`${sandboxPolicy([])}; connect-src ${A} http://localhost:8000`)
    expect(sandboxPage([A])).toContain(`content="${sandboxPolicy([A])}"`)
  })

  it.each(['*', "'self'", 'https:', `${A}; script-src *`, `${A} *`, `${A}/path`, `${A}"><script>`, 'http://a.example', 'data:'])('takes no %s', (host) => {
    expect(() => sandboxPolicy([host])).toThrow('is no host that can be granted')
    expect(() => sandboxPage([A, host])).toThrow('is no host that can be granted')
  })
})

describe('a worker of the sandbox', () => {
  it('has one line before the code', () => {
    expect(before('const hear = () => 1;').split('\n')).toHaveLength(LINES_BEFORE)
  })

  it('gives what a granted host answers as it is', async () => {
    await expect(worker([A], () => Promise.resolve('yes')).fetch(`${A}/x`)).resolves.toBe('yes')
  })

  it.each<[string, readonly string[], unknown, string]>([
    ['no network', [], `${A}/x?y`, `The code asked ${A} and has no network. Grant the host: network_hosts, beside the code under Network.`],
    ['another host', [A], 'https://b.example:8443/v1', `The code asked https://b.example:8443, which is not among its hosts (${A}). Grant the host: network_hosts, beside the code under Network.`],
    ['a Request to another host', [A], { url: 'https://b.example/' }, 'The code asked https://b.example, which'],
    ['a URL', [A], new URL('http://a.example/'), 'The code asked http://a.example, which'],
    ['another scheme', [A], 'data:text/plain,x', 'The code asked data:, which'],
    ['a host that is silent', [A], A, `${A} gave no answer that this page may read: it is down, or it does not let every page ask. It must send Access-Control-Allow-Origin: * (or null)`],
    ['no address', [A], '/x', 'Failed to fetch'],
  ])('says why a fetch fails: %s', async (_, hosts, to, sentence) => {
    await expect(worker(hosts, failed).fetch(to)).rejects.toThrow(sentence)
  })

  it.each([5, 200])('says that a granted host sent it on to one that is none, reported after %i ms', async (ms) => {
    const event = { effectiveDirective: 'connect-src', blockedURI: `${A}/x` }
    const { fetch, logs } = worker([A], (report) => {
      setTimeout(() => report(event), ms)
      return failed()
    })
    const sentence = `${A} sent the request on to a host that is not among those of the code (${A}).`
    await expect(fetch(`${A}/x`)).rejects.toThrow(sentence)
    expect([logs.length, logs[0]]).toEqual([1, expect.stringContaining(sentence)])
  })

  it('logs once a host what other ways of asking were refused, and leaves an abort as it is', async () => {
    const { fetch, logs } = worker([A], async (report) => {
      for (let i = 0; i < 2; i++) report({ effectiveDirective: 'connect-src', blockedURI: 'wss://b.example/x' })
      report({ effectiveDirective: 'script-src', blockedURI: 'https://c.example/x' })
      throw new DOMException('Aborted by the code.', 'AbortError')
    })
    await expect(fetch(A)).rejects.toThrow('Aborted by the code.')
    expect(logs).toEqual([expect.stringContaining('The code asked wss://b.example, which no host opens')])
  })
})
