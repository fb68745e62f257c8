/** Groups of one rollout that are played in different places. */

import { describe, expect, it } from 'vitest'
import type { Assignment, Draw, Environment } from '../core/environment'
import { verdictOf } from '../core/episode'
import { rollout } from './rollout'
import { FakeEnvironment } from './testing/fake-environment'
import { chat, prepare, say } from './testing/setup'

/** An environment that hands every group to another one. */
function handing(assign: (draw: Draw) => Assignment): FakeEnvironment & { assign: (draw: Draw) => Assignment } {
  return Object.assign(new FakeEnvironment(), { assign })
}

/** No tools, no judge. */
function bare(): Environment {
  const fake = new FakeEnvironment({ episodeReward: () => null })
  return Object.assign(fake, { name: 'bare', tools: [], rewardless: true as const })
}

const user = (content: string) => [{ role: 'user' as const, content }]

describe('groups of several environments', () => {
  it('are played where they belong, each with its own prompt, tools and sessions', async () => {
    const talking = new FakeEnvironment({ step: () => ({ text: 'heard', reward: 1, done: true }) })
    const judgeless = bare()
    const draws: Draw[] = []
    const environment = handing((draw) => {
      draws.push(draw)
      return draw.prompt === 7 ? { environment: judgeless, messages: user('2 + 2 ='), columns: { solution: '4' } } : { environment: talking, messages: user('Talk.') }
    })
    const { request } = prepare({ reply: (_, context) => (context.includes('2 + 2') ? '4' : say('hi')), environment, request: { groupSeeds: [11, 12], firstPrompt: 6 } })
    const episodes = await rollout(request)
    expect(draws).toEqual([
      { seed: 11, split: 'train', prompt: 6 },
      { seed: 12, split: 'train', prompt: 7 },
    ])
    expect(episodes.map(({ environment: name }) => name)).toEqual(['fake', 'fake', 'bare', 'bare'])
    const [spoken, , answered] = episodes
    expect(spoken).toMatchObject({ exit: 'env_done', reward: 1, success: true })
    expect(spoken?.columns).toBeUndefined()
    expect(chat.text(spoken?.ids ?? [])).toContain('"name": "say"')
    // Nobody judges it here: reward functions will, and no reward is not 0.
    expect(answered).toMatchObject({ exit: 'answered', reward: null, rewardless: true, columns: { solution: '4' } })
    expect(answered?.success).toBeUndefined()
    expect(chat.text(answered?.ids.slice(0, answered.promptLength) ?? [])).not.toContain('<tools>')
    expect(talking.opened).toBe(2)
    expect(talking.closed).toBe(2)
    expect(environment.opened).toBe(0)
  })

  it('gives the row’s columns to reset, and draws by the seed where there is no order', async () => {
    const inner = new FakeEnvironment()
    const draws: Draw[] = []
    const environment = handing((draw) => (draws.push(draw), { environment: inner, columns: { word: 'oak' } }))
    const { request } = prepare({ reply: () => 'Done.', environment })
    await rollout(request)
    expect(draws).toEqual([{ seed: 100, split: 'train' }])
    expect(inner.resets.map(({ columns }) => columns)).toEqual([{ word: 'oak' }, { word: 'oak' }])
  })

  it('shares no more of the prompt than all groups begin with', async () => {
    const inner = new FakeEnvironment({ step: () => ({ done: true, reward: 1 }) })
    const play = async (contents: readonly string[]) => {
      const environment = handing((draw) => ({ environment: inner, messages: user(contents[draw.prompt ?? 0] ?? '') }))
      const { request, sampler } = prepare({ reply: () => say('x'), environment, request: { groupSeeds: [1, 2], firstPrompt: 0 } })
      const episodes = await rollout(request)
      return { episodes, prefilled: sampler.calls.flatMap((call) => (call.kind === 'prefill' ? [call.tokens] : [])) }
    }
    const different = await play(['Left side', 'Right side'])
    expect(different.episodes.map(({ messages }) => messages[0]?.content)).toEqual(['Left side', 'Left side', 'Right side', 'Right side'])
    // What was drawn stands behind each one's own prompt, not behind the other's.
    expect(chat.text(different.episodes[3]?.ids ?? [])).toContain('Right side')
  })

  it('says which prompt is too long, and what to do about a dataset', async () => {
    const inner = new FakeEnvironment()
    const environment = handing(() => ({ environment: inner, messages: user('word '.repeat(400)), columns: {} }))
    const { request } = prepare({ reply: () => 'x', environment, contextLength: 256 })
    await expect(rollout(request)).rejects.toMatchObject({ kind: 'config', message: expect.stringContaining('the context holds 256') as string, advice: 'Leave long prompts out of the dataset.' })
  })
})

describe('a verdict', () => {
  it('on an episode that only functions judge is theirs', () => {
    const base = { exit: 'answered' as const, turns: [], rewardless: true as const }
    expect(verdictOf({ ...base, reward: 0 })).toBe('said')
    expect(verdictOf({ ...base, reward: null })).toBe('env_silent')
  })
})
