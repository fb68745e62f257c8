import { describe, expect, it } from 'vitest'
import { asksForConsent, type EnvironmentSpec, type MixMember } from '../core/environment-spec'
import { readLink, writeLink } from './link'
import { leftOut } from './link-environment'
import { defaultConfig } from './presets'

const member = (environment: MixMember['environment'], weight = 1): MixMember => ({ environment, weight, system_prompt: 'Be "brief" & kind', user_prompt: '' })
const CUSTOM = { kind: 'custom', called: 'Game', code: 'class Game { reset() { return "#&=%" } }' } as const
const HUB = { kind: 'hub', repo: 'openai/gsm8k', revision: 'main', config: 'main', split: null } as const

const inLink = (value: unknown) => encodeURIComponent(JSON.stringify(value))

const SPECS: EnvironmentSpec[] = [
  { kind: 'builtin', name: 'catch' },
  CUSTOM,
  { kind: 'prompts', dataset: HUB },
  { kind: 'prompts', dataset: { kind: 'text', name: 'mine.jsonl', text: '{"prompt":"2+2","solution":"4"}' } },
  { kind: 'mix', members: [member({ kind: 'builtin', name: 'lane' }, 2.5), member({ kind: 'openenv', url: 'ws://localhost:8000' }), member(CUSTOM)], dataset: null },
  { kind: 'mix', members: [member({ kind: 'builtin', name: 'echo' })], dataset: { kind: 'text', name: 'rows', text: '{"prompt":"x"}' } },
]

describe('hosts in the link', () => {
  const HOSTS = ['https://a.example:8443', 'http://localhost:8000']

  it('come back with the code that asks for them, as a request that waits for a word', () => {
    const config = { ...defaultConfig(CUSTOM), network_hosts: HOSTS }
    const { config: read, problems } = readLink(writeLink(config, 0))
    expect([read, problems, asksForConsent(read)]).toEqual([config, [], true])
  })

  it('are none in links of before', () => {
    const link = writeLink(defaultConfig(CUSTOM), 0)
    expect([link.includes('network_hosts'), 'network_hosts' in readLink(link).config]).toEqual([false, false])
  })

  it('are not written and not taken without code', () => {
    expect(writeLink({ ...defaultConfig(), network_hosts: HOSTS }, 0)).not.toContain('network_hosts')
    const { config, problems } = readLink('#v=1&env=lane&network_hosts=https://a.example')
    expect([config, problems]).toEqual([defaultConfig(), ['The link was not used in full: network_hosts are for code, and the link has none; the default is kept.']])
  })

  it.each([
    "https://a.example; script-src 'unsafe-inline'",
    'https://a.example,*',
    'http://a.example',
    'https://a.example/path',
    '',
    Array.from({ length: 9 }, (_, i) => `https://${i}.example`).join(),
  ])('%s is refused as a whole', (hosts) => {
    const { config, problems } = readLink(`${writeLink(defaultConfig(CUSTOM), 0)}&network_hosts=${encodeURIComponent(hosts)}`)
    expect([problems.length, problems[0]]).toEqual([1, expect.stringContaining('network_hosts must be at most 8 hosts such as https://api.example.org, not "')])
    expect('network_hosts' in config).toBe(false)
  })
})

describe('environments in the link', () => {
  it.each(SPECS.map((spec) => [spec.kind, spec] as const))('a %s comes back as it was', (_, environment) => {
    const config = { ...defaultConfig(environment), rollout_func: { called: 'rollout', code: 'async function rollout() {}' } }
    const { config: read, problems } = readLink(writeLink(config, 0))
    expect(problems).toEqual([])
    expect(read).toEqual(config)
  })

  it('says that rows which are too long for a link stay with the person', () => {
    const environment: EnvironmentSpec = { kind: 'prompts', dataset: { kind: 'text', name: 'long.jsonl', text: 'x'.repeat(20_001) } }
    const link = writeLink(defaultConfig(environment), 0)
    expect(link.length).toBeLessThan(400)
    expect(leftOut(environment)).toEqual(['long.jsonl'])
    const { config, problems } = readLink(link)
    expect(problems).toEqual(['The link brings no rows of the dataset "long.jsonl" (those that are too long for a link stay behind): choose or paste them.'])
    expect(config.environment).toEqual({ kind: 'prompts', dataset: { kind: 'text', name: 'long.jsonl', text: '' } })
  })

  it('asks before servers, datasets of the Hub and code, and not for what is in the page', () => {
    expect(SPECS.map((environment) => asksForConsent({ environment }))).toEqual([false, true, true, false, true, false])
    expect(asksForConsent({ environment: { kind: 'openenv', url: 'x' } })).toBe(true)
    expect(asksForConsent({ environment: { kind: 'builtin', name: 'lane' }, rollout_func: { called: 'f', code: 'function f() {}' } })).toBe(true)
  })

  it.each([
    ['#v=1&env=custom', 'env custom needs env_spec'],
    ['#v=1&env_spec={}', 'env_spec needs env beside it'],
    ['#v=1&env=mix&env_spec={"kind":"custom","called":"A","code":""}', 'env_spec must be the JSON of an environment'],
    ['#v=1&env=mix&env_spec={"kind":"mix","members":[],"dataset":null}', 'env_spec must be the JSON of an environment'],
    ['#v=1&env=custom&env_spec={"kind":"custom","called":"A B","code":""}', 'env_spec must be the JSON of an environment'],
    [`#v=1&env=mix&env_spec=${inLink({ kind: 'mix', members: [member({ kind: 'openenv', url: 'javascript:alert(1)' })], dataset: null })}`, 'env_spec names a server that is none'],
    [`#v=1&env=prompts&env_spec=${inLink({ kind: 'prompts', dataset: { ...HUB, repo: 'a/..' } })}`, 'no repository on the Hub'],
    [`#v=1&env=mix&env_spec=${inLink({ kind: 'mix', members: [member({ kind: 'builtin', name: 'lane' }, -1)], dataset: null })}`, 'an environment of weight "-1": a weight must be a number above 0; the default is kept'],
    [`#v=1&env=mix&env_spec=${inLink({ kind: 'mix', members: [member({ kind: 'builtin', name: 'lane' }), member({ kind: 'builtin', name: 'catch' }, 0)], dataset: null })}`, 'of weight "0"'],
    [`#v=1&env=mix&env_spec=${inLink({ kind: 'mix', members: [{ environment: { kind: 'builtin', name: 'lane' } }], dataset: null })}`, 'of weight "none"'],
    ['#v=1&env=lane&rollout_func=alert(1)', 'rollout_func must be the JSON of a function'],
  ])('%s', (hash, sentence) => {
    const { config, problems } = readLink(hash)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(sentence)
    expect(config).toEqual(defaultConfig())
  })
})
