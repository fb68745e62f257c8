import { describe, expect, it } from 'vitest'
import type { RunConfig } from '../core/config'
import { readLink, writeLink } from './link'
import { PRESET_NAMES, defaultConfig } from './presets'

const changed: RunConfig = {
  ...defaultConfig({ kind: 'openenv', url: 'wss://example.org:8000/ws?x=1&y=2' }),
  model: 'models/other',
  system_prompt: 'Say "hello" & #hash = 50 %\nnext line ✓',
  user_prompt: 'go',
  enable_thinking: true,
  backend: 'wasm',
  lora: { r: 4, lora_alpha: 8, use_rslora: false, target_modules: ['q_proj', 'v_proj'] },
}
changed.grpo = {
  ...changed.grpo,
  seed: 7,
  learning_rate: 1e-5,
  epsilon_high: 0.28,
  min_p: 0.05,
  target_reward: -0.5,
  loss_type: 'dr_grpo',
  scale_rewards: 'none',
  lr_scheduler_type: 'cosine',
}

describe('settings in the link', () => {
  it.each(PRESET_NAMES)('the %s preset comes back and its link is short', (name) => {
    const config = defaultConfig({ kind: 'builtin', name })
    const hash = writeLink(config, 0)
    expect(hash).toBe(`#v=1&env=${name}&seed=42`)
    expect(readLink(hash)).toEqual({ config, episode: 0, problems: [] })
  })

  it('every changed setting, prompt and the selected episode come back', () => {
    expect(readLink(writeLink(changed, 5))).toEqual({ config: changed, episode: 5, problems: [] })
  })

  it('null settings that a preset does not have as null come back as off', () => {
    const config = { ...changed, grpo: { ...changed.grpo, epsilon_high: null, min_p: null, target_reward: null } }
    expect(readLink(writeLink(config, 0)).config).toEqual(config)
  })

  it('an empty hash is the first preset without a complaint', () => {
    expect(readLink('')).toEqual({ config: defaultConfig(), episode: 0, problems: [] })
  })
})

describe('broken links', () => {
  it.each([
    ['#v=1&env=lane&learning_rate=abc', 'learning_rate must be a number from 0 to 1, not "abc"'],
    ['#v=1&env=lane&learning_rate=', 'learning_rate must be'],
    ['#v=1&env=lane&learning_rate=Infinity', 'learning_rate must be'],
    ['#v=1&env=lane&num_generations=1', 'num_generations must be a whole number from 2 to 64'],
    ['#v=1&env=lane&num_generations=2.5', 'num_generations must be a whole number'],
    ['#v=1&env=lane&temperature=0', 'temperature must be a number above 0'],
    ['#v=1&env=lane&loss_type=ppo', 'loss_type must be one of grpo, bnpo, dr_grpo, dapo'],
    ['#v=1&env=lane&lora_targets=q_proj,foo', 'lora_targets must be a list of q_proj'],
    ['#v=1&env=lane&lora_targets=', 'lora_targets must be'],
    ['#v=1&env=lane&backend=cuda', 'backend must be auto, webgpu or wasm'],
    ['#v=1&env=lane&model=https://evil.example/m', 'model must be a folder of this site'],
    ['#v=1&env=lane&model=../../secret', 'model must be a folder of this site'],
    ['#v=1&env=lane&episode=-1', 'episode must be a whole number'],
    ['#v=1&env=lane&enable_thinking=1', 'enable_thinking must be true or false'],
    [`#v=1&env=lane&system_prompt=${'x'.repeat(33_000)}`, 'system_prompt has 33000 characters'],
    ['#v=1&env=javascript:alert(1)', 'env must be lane, catch, echo or a server'],
    ['#v=1&env=pong', 'env must be lane, catch, echo or a server'],
  ])('%s', (hash, sentence) => {
    const { config, problems } = readLink(hash)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(sentence)
    expect(config).toEqual(defaultConfig())
  })

  it('says which version it does not know and uses the defaults', () => {
    const { config, problems } = readLink('#v=9&env=echo&seed=3')
    expect(problems[0]).toContain('version "9"')
    expect(config).toEqual(defaultConfig())
    expect(readLink('#garbage%%%').problems[0]).toContain('does not say its version')
  })

  it('keeps the good settings beside a bad one, and names unknown ones', () => {
    const { config, problems } = readLink('#v=1&env=echo&seed=3&top_k=x&colour=red')
    expect(config.grpo.seed).toBe(3)
    expect(problems).toHaveLength(2)
    expect(problems[1]).toContain('"colour"')
  })
})
