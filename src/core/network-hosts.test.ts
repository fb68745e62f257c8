import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO } from './config'
import { hasCode, hostsKey, hostsOf, isHost, isLocal, MOST_HOSTS, readHosts, withHosts } from './network-hosts'

describe('a host that can be granted', () => {
  it.each(['https://a.example', 'https://a.example:8443', 'https://xn--bcher-kva.example', 'http://localhost:8080', 'http://127.0.0.1:8000', 'https://127.0.0.1'])('%s', (host) => {
    expect(isHost(host)).toBe(true)
  })

  it.each(['https://A.example', 'https://a.example/', 'https://a.example:443', 'https://a.example:99999', 'https://a.example\n', ' https://a.example', 'https://a.example;', 'https://a.example https://b.example', 'http://a.example', 'http://localhost', 'http://localhost:80', 'http://localhost.a.example', 'https://1.2.3', 'https://[::1]', "'self'", '*', 'data:'])(
    'not %s',
    (host) => {
      expect(isHost(host)).toBe(false)
    },
  )
})

describe('the hosts of a run', () => {
  it('are each named once, and not more than a run may have', () => {
    expect(readHosts(['https://a.example', 'https://a.example', 'http://localhost:1'])).toEqual(['https://a.example', 'http://localhost:1'])
    expect(readHosts(['https://a.example', 'http://b.example'])).toBeNull()
    const many = Array.from({ length: MOST_HOSTS + 1 }, (_, i) => `https://${i}.example`)
    expect([readHosts(many), readHosts(many.slice(1))?.length]).toEqual([null, MOST_HOSTS])
  })

  it('are none where nothing is said, and none is no setting', () => {
    expect([hostsOf({}), withHosts({}, ['https://a.example']), withHosts({ network_hosts: ['https://a.example'] }, [])]).toEqual([[], { network_hosts: ['https://a.example'] }, {}])
    expect('network_hosts' in withHosts({ network_hosts: ['https://a.example'] }, [])).toBe(false)
  })

  it('are the same grant in any order', () => {
    expect(hostsKey(['b', 'a', 'b'])).toBe(hostsKey(['a', 'b']))
    expect(hostsKey(['a'])).not.toBe(hostsKey(['a', 'b']))
    expect(['http://localhost:8000', 'https://127.0.0.1', 'https://localhost.example'].map(isLocal)).toEqual([true, true, false])
  })

  it('are for code: a class, also one of several, a rollout_func, a reward function', () => {
    const game = { kind: 'builtin', name: 'lane' } as const
    const own = { kind: 'custom', called: 'A', code: '' } as const
    const code = { called: 'f', code: '' }
    const mix = { kind: 'mix', members: [{ environment: own, weight: 1, system_prompt: '', user_prompt: '' }], dataset: null } as const
    const judged = { ...DEFAULT_GRPO, reward_funcs: [{ name: 'custom', ...code } as const] }
    const grpo = DEFAULT_GRPO
    const of = [{ environment: game, grpo }, { environment: own, grpo }, { environment: { ...mix, members: [...mix.members] }, grpo }, { environment: game, rollout_func: code, grpo }, { environment: game, grpo: judged }]
    expect(of.map(hasCode)).toEqual([false, true, true, true, true])
  })
})
