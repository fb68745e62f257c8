import { DEFAULT_DISPLAY } from './display'
import { describe, expect, it } from 'vitest'
import type { RunConfig } from '../core/config'
import { LESSON_IDS, LESSON_STARTS, lessonConfig } from './lessons'
import { readLink, writeLink } from './link'
import { withModel } from './model-settings'
import { withStages } from './planned'
import { PRESET_NAMES, defaultConfig, presetByName } from './presets'
import { presetConfig } from '../worker/protocol'

const changed: RunConfig = {
  ...defaultConfig({ kind: 'openenv', url: 'wss://example.org:8000/x=1&y=2/ws' }),
  model: 'models/other',
  system_prompt: 'Say "hello" & #hash = 50 %\nnext line ✓',
  user_prompt: 'go',
  enable_thinking: true,
  backend: 'wasm',
  lora: { r: 4, lora_alpha: 8, use_rslora: false, target_modules: ['q_proj', 'v_proj'] },
}
changed.tool_edits = [
  { kind: 'rename', tool: 'move', name: 'go' },
  { kind: 'describe', tool: 'move', parameter: 'to', description: 'Where to & why' },
  { kind: 'restrict', tool: 'move', parameter: 'to', enum: ['left', 3, true] },
  { kind: 'restrict', tool: 'move', parameter: 'speed', minimum: 0, maximum: 1.5 },
  { kind: 'hide', tool: 'observe' },
]
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
    const config = presetConfig(presetByName(name))
    const hash = writeLink(config, 0)
    expect(hash).toBe(`#v=1&env=${name}&seed=42`)
    expect(readLink(hash)).toEqual({ config, episode: 0, display: {}, problems: [] })
  })

  it('a plan that was changed comes back, and one that is none is refused', () => {
    const staged = presetConfig(presetByName('staged'))
    const [first, second] = staged.stages ?? []
    const plan = [{ ...first!, settings: { ...first!.settings, max_steps: 7 } }, { ...second!, rows: { from: 'pairs' as const, groups: 3 } }]
    const config = { ...staged, stages: plan, grpo: { ...staged.grpo, eval_episodes: 9 } }
    expect(writeLink(config, 0)).toMatch(/^#v=1&env=staged&seed=42&eval_episodes=9&stages=%5B/)
    // Without the preset's tools it is no longer the preset, and where there never was one it is none.
    const others = [{ ...config, tool_edits: [] }, ...(['lane', 'catch'] as const).map((name) => withStages(defaultConfig({ kind: 'builtin', name }), plan))]
    expect(others.map((each) => writeLink(each, 0).slice(0, 18))).toEqual(['#v=1&env=lane&seed', '#v=1&env=lane&seed', '#v=1&env=catch&see'])
    expect(writeLink(others[1]!, 0)).toMatch(/^#v=1&env=lane&seed=42&stages=%5B/)
    for (const each of [config, ...others]) expect(readLink(writeLink(each, 0))).toEqual({ config: each, episode: 0, display: {}, problems: [] })
    const large = withModel(staged, { model: 'Qwen/Qwen3-0.6B', model_revision: 'main' })
    expect(writeLink(large, 0)).toBe('#v=1&env=staged&model=Qwen%2FQwen3-0.6B&seed=42')
    expect(readLink(writeLink(large, 0)).config).toEqual(large)
    // A link of before, when the environment alone decided.
    expect(readLink(`#v=1&env=staged&seed=42&eval_episodes=9&tool_edits=%5B%5D&stages=${encodeURIComponent(JSON.stringify(plan))}`).config).toEqual({ ...config, tool_edits: [] })
    const wrong = JSON.stringify([{ kind: 'sft', rows: { from: 'pairs', groups: 3 }, settings: {} }])
    for (const text of ['x', '[]', wrong, wrong.replace('sft', 'ppo')]) {
      const read = readLink(`#v=1&env=lane&stages=${encodeURIComponent(text)}`)
      expect(read.config).toEqual(defaultConfig())
      expect(read.problems[0]).toContain('stages must be the JSON of a list of stages')
    }
  })

  it('every changed setting, prompt and the selected episode come back', () => {
    expect(readLink(writeLink(changed, 5))).toEqual({ config: changed, episode: 5, display: {}, problems: [] })
  })

  it('the selected token comes back, and is no Hub token', () => {
    expect(readLink(writeLink(changed, 5, 31))).toEqual({ config: changed, episode: 5, token: 31, display: {}, problems: [] })
    expect(readLink('#v=1&env=lane&position=x').problems[0]).toContain('position must be a whole number')
  })

  it('a Hub model with its own settings is short, and every part of the choice comes back', () => {
    const there = withModel(defaultConfig(), { model: 'Qwen/Qwen3-0.6B', model_revision: 'main' })
    expect(writeLink(there, 0)).toBe('#v=1&env=lane&model=Qwen%2FQwen3-0.6B&seed=42')
    expect(readLink(writeLink(there, 0))).toEqual({ config: there, episode: 0, display: {}, problems: [] })
    const more: RunConfig = {
      ...there,
      model_revision: 'refs/pr/7',
      precision: 'int8',
      adapter: { kind: 'hub', repo: 'me/my-lora_1.2', revision: 'v2' },
      grpo: { ...there.grpo, num_generations: 4, learning_rate: 1e-3 },
    }
    expect(readLink(writeLink(more, 0))).toEqual({ config: more, episode: 0, display: {}, problems: [] })
  })

  it('a LoRA that was given as files stays out of the link', () => {
    const config: RunConfig = { ...defaultConfig(), adapter: { kind: 'file', name: 'secret.safetensors' } }
    expect(writeLink(config, 0)).toBe(writeLink(defaultConfig(), 0))
  })

  it('null settings that a preset does not have as null come back as off', () => {
    const config = { ...changed, grpo: { ...changed.grpo, epsilon_high: null, min_p: null, target_reward: null } }
    expect(readLink(writeLink(config, 0)).config).toEqual(config)
  })

  it('what is looked at comes back, what is as ever is left out', () => {
    const display = { ...DEFAULT_DISPLAY, heat: 'entropy' as const, hide: ['chat', 'play'] }
    const link = writeLink(defaultConfig(), 0, null, display)
    expect(link).toMatch(/heat=entropy&hide=chat%2Cplay$/)
    expect(readLink(link)).toEqual({ config: defaultConfig(), episode: 0, display: { heat: 'entropy', hide: ['chat', 'play'] }, problems: [] })
    expect(readLink(link.replace('entropy', 'red')).problems.join()).toContain('heat must be author, ')
  })

  it('where the page looks comes back: a step of the run, a place in the recording, open panels, a lesson with its card', () => {
    const display = { ...DEFAULT_DISPLAY, lesson: 'masking', card: 3, open: ['chat' as const], grain: 'token' as const, curves: ['reward', 'kl'] }
    const link = writeLink(changed, 5, 31, display, { step: 12, at: 3.456 })
    expect(link).toContain('&step=12&at=3.46&')
    const { lesson, card, open, grain, curves } = display
    expect(readLink(link)).toEqual({ config: changed, episode: 5, token: 31, step: 12, at: 3.46, display: { lesson, card, open, grain, curves }, problems: [] })
  })

  it('a lesson by its name alone opens in its own state; with an environment the link says everything', () => {
    for (const id of LESSON_IDS) {
      const { at, episode = 0, display } = LESSON_STARTS[id]
      const place = at === undefined ? {} : { at }
      const config = lessonConfig(id)
      expect(readLink(`#v=1&lesson=${id}`)).toEqual({ config, episode, ...place, display: { ...display, lesson: id }, problems: [] })
      expect(readLink(`#v=1&env=catch&lesson=${id}`)).toEqual({ config: defaultConfig({ kind: 'builtin', name: 'catch' }), episode: 0, display: { lesson: id }, problems: [] })
    }
    expect(readLink('#v=1&lesson=masking&hide=task&episode=1')).toMatchObject({ episode: 1, display: { hide: ['task'], lesson: 'masking' } })
  })

  it('what a link hides is kept where this page has it, and told where not', () => {
    const { display, problems } = readLink('#v=1&env=lane&hide=chat,elephant,seed')
    expect(display.hide).toEqual(['seed', 'chat'])
    expect(problems).toEqual(['The link hides parts that this page does not have: "elephant".'])
  })

  it('an empty hash is the first preset without a complaint', () => {
    expect(readLink('')).toEqual({ config: defaultConfig(), episode: 0, display: {}, problems: [] })
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
    ['#v=1&env=lane&tool_edits=nonsense', 'tool_edits must be a JSON list of changes'],
    ['#v=1&env=lane&tool_edits=[{"kind":"explode","tool":"x"}]', 'tool_edits must be a JSON list of changes'],
    [`#v=1&env=lane&tool_edits=[{"kind":"describe","tool":"x","description":"${'y'.repeat(33_000)}"}]`, 'tool_edits must be a JSON list of changes'],
    ['#v=1&env=lane&backend=cuda', 'backend must be auto, webgpu or wasm'],
    ['#v=1&env=lane&model=https://evil.example/m', 'model must be a folder of this site (models/NAME) or a repository on the Hub (owner/name)'],
    ['#v=1&env=lane&model=../../secret', 'model must be a folder of this site'],
    ['#v=1&env=lane&model=../secret', 'model must be a folder of this site'],
    ['#v=1&env=lane&model=//evil.example', 'model must be a folder of this site'],
    ['#v=1&env=lane&model=models/../x', 'model must be a folder of this site'],
    ['#v=1&env=lane&model=models/..', 'model must be a folder of this site'],
    ['#v=1&env=lane&model_revision=a/../b', 'model_revision must be a branch, tag or commit'],
    ['#v=1&env=lane&precision=fp8', 'precision must be float32, int8 or int4'],
    ['#v=1&env=lane&adapter=https://evil.example/a', 'adapter must be a repository on the Hub'],
    ['#v=1&env=lane&adapter=me/lora@a@b', 'adapter must be a repository on the Hub'],
    ['#v=1&env=lane&adapter=models/x', 'adapter must be a repository on the Hub'],
    ['#v=1&env=lane&episode=-1', 'episode must be a whole number'],
    ['#v=1&env=lane&enable_thinking=1', 'enable_thinking must be true or false'],
    [`#v=1&env=lane&system_prompt=${'x'.repeat(33_000)}`, 'system_prompt has 33000 characters'],
    ['#v=1&env=lane&step=0', 'step must be a whole number above 0, not "0"'],
    ['#v=1&env=lane&at=-1', 'at must be a place in the recorded run'],
    ['#v=1&env=lane&at=x', 'at must be a place in the recorded run'],
    ['#v=1&env=lane&lesson=algebra', 'lesson must be one-step, why-groups'],
    ['#v=1&env=lane&card=0', 'card must be a whole number from 1 to 20'],
    ['#v=1&env=lane&open=door', 'open must be a list of chat, play, compare'],
    ['#v=1&env=lane&hide=x,,y', 'hide must be names with commas'],
    ['#v=1&env=javascript:alert(1)', 'env must be lane, catch, echo'],
    ['#v=1&env=pong', 'env must be lane, catch, echo'],
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

  it('takes no token: a link that brings one is told so and the token is not kept', () => {
    const { config, problems } = readLink('#v=1&env=lane&token=hf_secret')
    expect(problems).toEqual(['The link names settings that this page does not know: "token".'])
    expect(JSON.stringify(config)).not.toContain('hf_secret')
  })

  it('keeps the good settings beside a bad one, and names unknown ones', () => {
    const { config, problems } = readLink('#v=1&env=echo&seed=3&top_k=x&colour=red')
    expect(config.grpo.seed).toBe(3)
    expect(problems).toHaveLength(2)
    expect(problems[1]).toContain('"colour"')
  })
})
