import { describe, expect, it } from 'vitest'
import { recordOf } from '../../../e2e/reference/trl-run'
import type { RunConfig } from '../../core/config'
import { builtinEnvironment } from '../../env/builtin'
import { trlFolder } from './index'

const ROLLOUT = { called: 'my_rollout', code: 'async function my_rollout(prompts, trainer) {\n  return trainer.generate(prompts) // """\n}\n\n' }

function files(change: Partial<RunConfig>): Record<string, string> {
  const adapter = ['adapter_config.json', 'adapter_model.safetensors'].map((path) => ({ path, content: 'x' }))
  const made = trlFolder({ run: recordOf('lane', builtinEnvironment('lane'), change), history: [], adapter, base: [{ path: 'config.json', content: '{}' }] })
  return Object.fromEntries(made.map(({ path, content }) => [path, String(content)]))
}

describe('a rollout_func of the page, in the folder for TRL', () => {
  it.each<[string, Partial<RunConfig>]>([
    ['a game', {}],
    ['a server', { environment: { kind: 'openenv', url: 'http://h' } }],
    ['prompts', { environment: { kind: 'prompts', dataset: { kind: 'text', name: 'x', text: '{"prompt":"1"}' } } }],
  ])('goes along as its source, and train.py and README.md say that TRL’s own loop takes its place: %s', (_, change) => {
    const made = files({ ...change, rollout_func: ROLLOUT })
    expect(made['rollout_func.js']).toBe(`${ROLLOUT.code.trim()}\n`)
    expect(made['train.py']).toMatch(/# STUB: on the page my_rollout, a rollout_func in JavaScript[^]*?Here TRL’s own\n {8}# loop generates\./)
    expect(made['README.md']).toContain('| rollout_func.js |')
    expect(made['README.md']).toMatch(/## How completions are generated[^]*`my_rollout`[^]*train\.py generates with TRL’s\nown loop instead/)
  })

  it('tells in README.md what it could reach, where it could', () => {
    const network_hosts = ['https://a.example']
    expect(files({ rollout_func: ROLLOUT, network_hosts })['README.md']).toMatch(/## Network[^]*`https:\/\/a\.example` and to no other host/)
    expect([files({ rollout_func: ROLLOUT }), files({ network_hosts })].map((made) => made['README.md']?.includes('## Network'))).toEqual([false, false])
  })

  it('is not spoken of where there is none', () => {
    const made = files({})
    expect(Object.keys(made)).not.toContain('rollout_func.js')
    expect(`${made['train.py']}${made['README.md']}`).not.toMatch(/rollout_func|How completions/)
  })
})
