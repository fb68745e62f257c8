/** What counts as a secret, and that none is left in a run or an episode. */

import { describe, expect, it } from 'vitest'
import { withoutCredentials, withoutEpisodeSecrets, withoutSecrets, withoutTokens } from './secrets'
import { sampleRun, sampleSteps } from './testing/episodes'

const TOKEN = `hf_${'aB3'.repeat(12)}`
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJyZWFkIjp0cnVlLCJzdWIiOiJ4In0.c2lnbmF0dXJlLW9mLWl0'

it.each([
  [`https://a.b/?token=${TOKEN}&x=1`, 'https://a.b/?token=hf_…&x=1'],
  [`hf_oauth_${'e.J-_'.repeat(9)}`, 'hf_…'],
  [`api_org_${'aB3'.repeat(12)}`, 'api_org_…'],
  [`signed with ${JWT}.`, 'signed with eyJ….'],
  ['hf_search_models_and_datasets_of_the_hub', 'hf_search_models_and_datasets_of_the_hub'],
])('%s', (text, clean) => {
  expect(withoutTokens(text)).toBe(clean)
})

it.each([
  [`https://owner-env.hf.space/?__sign=${JWT}`, 'https://owner-env.hf.space/'],
  ['wss://me:pass@host:8000/env?key=secret#x', 'wss://host:8000/env'],
  ['git+https://me:p@ss@host/owner/env', 'git+https://host/owner/env'],
  ['me:pass@localhost:8000', 'localhost:8000'],
  [' owner/env ', 'owner/env'],
  ['localhost:8000#token=a\nb', 'localhost:8000'],
])('the address %s', (address, place) => {
  expect(withoutCredentials(address)).toBe(place)
})

describe('a run', () => {
  const url = `https://me:word@owner-env.hf.space/?__sign=${JWT}&key=sesame`

  it('keeps no secret of its address or its texts, and all else', () => {
    const plain = sampleRun()
    const { config, environment } = plain
    const [tool] = environment.tools
    if (!tool) throw new Error('The sample has a tool.')
    const described = { ...tool, function: { ...tool.function, description: `Say ${TOKEN}.` } }
    const run = sampleRun({
      name: `Run ${TOKEN}`,
      notes: `at ${url} with ${TOKEN}`,
      config: { ...config, environment: { kind: 'openenv', url }, system_prompt: TOKEN, tool_edits: [{ kind: 'describe', tool: 'say', description: TOKEN }] },
      environment: { ...environment, tools: [described], prompts: { system: TOKEN, user: `Say ${TOKEN}` } },
    })
    const clean = withoutSecrets(run)
    expect(JSON.stringify(clean)).not.toMatch(/hf_a|eyJh|sesame|word@|__sign/)
    expect(clean.config.environment).toEqual({ kind: 'openenv', url: 'https://owner-env.hf.space/' })
    expect(clean).toMatchObject({ id: 'run-1', name: 'Run hf_…', notes: 'at https://owner-env.hf.space/ with hf_…', lora: plain.lora, evaluations: plain.evaluations })
    expect(run.name).toContain(TOKEN)
  })

  it('loses the secrets of every server of several environments', () => {
    const member = (url: string) => ({ environment: { kind: 'openenv' as const, url }, weight: 1, system_prompt: '', user_prompt: '' })
    const run = sampleRun()
    const clean = withoutSecrets({ ...run, notes: 'https://u:sesame@a.b/', config: { ...run.config, environment: { kind: 'mix', members: [member('https://u:sesame@a.b/'), member('https://c.d/?key=open')], dataset: null } } })
    expect(JSON.stringify(clean)).not.toMatch(/sesame|key=open/)
    expect(clean.notes).toBe('https://a.b/')
  })

  it('without a secret stays as it is', () => {
    expect(withoutSecrets(sampleRun())).toEqual(sampleRun())
  })
})

describe('an episode', () => {
  const whole = sampleSteps()[0]?.[0]
  if (!whole) throw new Error('The sample has an episode.')

  it('loses a token in messages, calls, scenes, prompt and completion', () => {
    const [turn] = whole.turns
    const [call] = turn?.calls ?? []
    if (!turn || !call) throw new Error('The sample has a call.')
    const clean = withoutEpisodeSecrets({
      ...whole,
      prompt: `Say ${TOKEN}`,
      completion: TOKEN,
      error: `It said ${TOKEN}.`,
      messages: [{ role: 'user', content: `Say ${TOKEN}` }],
      turns: [{ ...turn, calls: [{ ...call, call: { name: 'say', arguments: { deep: [{ word: TOKEN }] } }, result: TOKEN }], scene: { said: TOKEN } }],
      scene: { said: [TOKEN] },
    })
    expect(JSON.stringify(clean)).not.toContain('hf_a')
    expect(clean).toMatchObject({ prompt: 'Say hf_…', completion: 'hf_…', reward: whole.reward, ids: whole.ids })
  })

  it('loses the tokens that spell one, as text, as id and among the alternatives', () => {
    const texts = ['<s>', 'Say', ` "${TOKEN.slice(0, 2)}`, TOKEN.slice(2, 20), TOKEN.slice(20), '', '"!', 'x', '<e>']
    const clean = withoutEpisodeSecrets({ ...whole, texts })
    expect(clean.texts).toEqual(['<s>', 'Say', ' "hf_…', '', '', '', '"!', 'x', '<e>'])
    expect(clean.ids).toEqual(whole.ids.map((id, i) => (i >= 2 && i <= 4 ? 0 : id)))
    expect(clean.alternatives.slice(2, 5)).toEqual([null, null, null])
    expect(clean.alternatives[5]).toEqual(whole.alternatives[5])
  })

  it('loses two that one token ends and begins', () => {
    const texts = ['<s>', TOKEN, ` ${TOKEN} and ${TOKEN.slice(0, 5)}`, TOKEN.slice(5), '!', '', '', '', '']
    expect(withoutEpisodeSecrets({ ...whole, texts }).texts.slice(1, 5)).toEqual(['hf_…', ' hf_… and hf_…', '', '!'])
  })

  it('without a secret stays as it is', () => {
    for (const episode of sampleSteps().flat()) expect(withoutEpisodeSecrets(episode)).toEqual(episode)
  })
})
