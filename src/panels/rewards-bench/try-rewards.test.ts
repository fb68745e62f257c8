import { describe, expect, it } from 'vitest'
import type { LoggedToken } from '../../store/token-log'
import type { EpisodeView } from '../../store/view'
import { tryRewards } from './try-rewards'

const token = (author: LoggedToken['author'], text: string) => ({ id: 1, text, author, mask: 0, logprob: null, trainLogprob: null, entropy: null, top: null }) as LoggedToken
const view = { step: 3, index: 0, seed: 7, promptLength: 1, reward: 0.5, success: false, exit: 'answered', answers: [{ turn: 0, reward: 0.25, done: false, ms: 1 }, { turn: 1, reward: 0.25, done: true, ms: 1 }] } as unknown as EpisodeView
const tokens = [token('template', 'Prompt'), token('model', '<think>a</think>'), token('model', 'b<|im_end|>'), token('template', '\n'), token('environment', 'seen'), token('template', '\n'), token('model', 'c')]
const never = () => Promise.reject(new Error('Nothing was to be called.'))

describe('the bench', () => {
  it('gives functions the messages by who wrote them', async () => {
    let seen: unknown
    const call = (_: unknown, args: unknown) => {
      seen = args
      return Promise.resolve({ rewards: [2], metrics: {}, logs: ['hi'] })
    }
    const tried = await tryRewards([{ name: 'custom', called: 'mine', code: '' }], null, [{ view, tokens }], 'lane', call)
    expect(seen).toMatchObject({
      prompts: [[{ content: 'Prompt' }]],
      completions: [[{ role: 'assistant', content: '<think>a</think>b' }, { role: 'tool', content: 'seen' }, { role: 'assistant', content: 'c' }]],
      environments: [{ name: 'lane', seed: 7, reward: 0.5 }],
      trainer_state: { global_step: 2 },
    })
    expect(tried).toMatchObject({ names: ['mine'], columns: [{ rewards: [2], logs: ['hi'] }], sums: [2] })
  })

  it('sums by weight, and tells a function’s failure beside the others’ rewards', async () => {
    const funcs = [{ name: 'environment', take: 'max' } as const, { name: 'think_format_reward' } as const, { name: 'custom', called: 'mine', code: '' } as const]
    const tried = await tryRewards(funcs, [2, 1, 1], [{ view, tokens }], 'lane', never)
    expect(tried.sums).toEqual([1.5])
    expect(tried.columns.map(({ error }) => error)).toEqual([null, null, 'Nothing was to be called.'])
  })

  it('asks a function of several environments about those that it is for', async () => {
    const played = (environment: string) => ({ view: { ...view, environment }, tokens })
    const seen: unknown[] = []
    const call = (_: unknown, args: object) => {
      seen.push(args)
      return Promise.resolve({ rewards: [3], metrics: {}, logs: [] })
    }
    const funcs = [{ name: 'custom', called: 'mine', code: '', only: ['http://a'] } as const, { name: 'think_format_reward', only: ['chess'] } as const]
    const episodes = [played('lane'), played('A')]
    const chosen = { lane: 'lane', A: 'http://a' }
    expect((await tryRewards(funcs.map((func) => ({ ...func, only: [...func.only] })), null, episodes, 'x', call, chosen)).columns.map(({ rewards }) => rewards)).toEqual([[null, 3], [null, null]])
    expect(seen).toMatchObject([{ completions: [expect.anything()] }])
    // A run of one environment has no limits.
    expect((await tryRewards([{ name: 'think_format_reward', only: ['chess'] }], null, [{ view, tokens }], 'lane', never)).columns[0]?.rewards).toEqual([1])
  })

  it('gives the columns of a dataset’s rows, and misses none that is there', async () => {
    const row = { view: { ...view, rewardless: true, columns: { solution: '4', level: 1 } }, tokens: [token('template', '2 + 2 ='), token('model', '\\boxed{4}')] } as const
    let seen: unknown
    const call = (_: unknown, args: unknown) => {
      seen = args
      return Promise.resolve({ rewards: [1], metrics: {}, logs: [] })
    }
    const funcs = [{ name: 'accuracy_reward' } as const, { name: 'environment', take: 'own' } as const, { name: 'custom', called: 'mine', code: '' } as const]
    const tried = await tryRewards(funcs, null, [row], 'sums', call)
    expect(seen).toMatchObject({ solution: ['4'], level: [1] })
    expect(tried.columns.map(({ rewards, error }) => [rewards[0], error])).toEqual([[1, null], [null, null], [1, null]])
    const without = await tryRewards([{ name: 'accuracy_reward' }], null, [{ view, tokens }], 'lane', never)
    expect(without.columns[0]?.error).toMatch(/needs the column solution/)
  })
})
