import { describe, expect, it } from 'vitest'
import type { Environment } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import type { Asked, LiveAnswer } from '../../env/custom/live-client'
import { rollout } from '../rollout'
import { chat, encode, prepare, say, type SetUp, timeless } from '../testing/setup'
import { customRollout, MOST_ASKED, readyRollout } from './custom-rollout'

interface Trainer {
  generate(inputs: unknown, options?: object): Promise<{ prompt_ids: number[][]; completion_ids: number[][]; logprobs: number[][]; text: string[] }>
  ask: Asked
  rows: { index: number; seed: number }[]
}
type Func = (prompts: unknown[], trainer: Trainer) => unknown

/** Calls the function here, as the worker does in the sandbox. */
const inPage = (func: Func) => () => ({
  live: (_role: string, _func: unknown, onAsk?: Asked) => ({
    call: async (message: Record<string, unknown>): Promise<LiveAnswer> => {
      const ask = onAsk as Asked
      const trainer: Trainer = { ...(message['facts'] as Pick<Trainer, 'rows'>), ask, generate: (...args) => ask('generate', args) as ReturnType<Trainer['generate']> }
      try {
        return { id: 1, value: JSON.parse(JSON.stringify((await func(message['prompts'] as unknown[], trainer)) ?? null)) }
      } catch (error) {
        return { id: 1, error: (error as Error).message }
      }
    },
    end: () => undefined,
  }),
})

const silent: Environment = {
  name: 'prompts',
  tools: [],
  maxSessions: Infinity,
  prompts: { system: '', user: '' },
  rewardless: true,
  connect: () => Promise.resolve(),
  open: () => Promise.resolve({ reset: () => Promise.resolve({ text: '', reward: null, done: false, metadata: {}, toolError: false }), step: () => Promise.reject(new Error('no tool')), close: () => Promise.resolve() }),
  episodeReward: () => null,
  isSuccess: () => false,
  assign: ({ seed }) => ({ environment: silent, messages: [{ role: 'user', content: `What is ${seed} + 1?` }], columns: { solution: String(seed + 1) } }),
  close: () => Promise.resolve(),
}
const setUp = (request: SetUp['request'] = {}, more: Partial<SetUp> = {}): SetUp => ({
  reply: () => ['one answer', 'another answer that is longer', 'a third'],
  slots: 3,
  ...more,
  request: { environment: silent, groupSeeds: [7, 9], num_generations: 4, ...request },
})
const run = (func: Func, made = prepare(setUp())) => customRollout({ called: 'rollout_func', code: '' }, inPage(func))(made.request)
const own: Func = async (prompts, trainer) => {
  const { prompt_ids, completion_ids, logprobs } = await trainer.generate(prompts)
  return { prompt_ids, completion_ids, logprobs }
}

describe('a rollout function', () => {
  it('that does what the page does gets the page’s own episodes, bit for bit', async () => {
    const [page, custom] = [prepare(setUp()), prepare(setUp())]
    const expected = await rollout(page.request)
    const got = await run(own, custom)
    expect(got.map(timeless)).toEqual(expected.map(timeless))
    expect(new Set(got.map(({ ids }) => ids.length)).size).toBeGreaterThan(1)
    const last = (events: typeof page.events) => events.filter(({ type }) => type === 'episode-finished').length
    expect([last(custom.events), custom.events.filter(({ type }) => type === 'episode-started').length]).toEqual([8, 8])
  })

  it('that hands in strange ids, odd options or unawaited calls is told, and spoils nothing after it', async () => {
    const made = prepare(setUp())
    const refused: string[] = []
    const told = (error: Error) => void refused.push(error.message)
    const episodes = await run(async (prompts, trainer) => {
      for (let i = 0; i < 5; i++) await trainer.generate([[9_999_999]], {}).catch(told)
      for (const odd of [{ top_k: 2.5 }, { top_p: 0 }, { min_p: 7 }, { temperature: 1e-320 }]) await trainer.generate(prompts, odd).catch(told)
      const { prompt_ids, completion_ids, logprobs } = await trainer.generate(prompts)
      void trainer.generate(prompts).catch(told)
      return { prompt_ids, completion_ids, logprobs }
    }, made)
    expect(episodes).toHaveLength(8)
    expect(refused.slice(0, 5)).toEqual(Array(5).fill(expect.stringMatching(/given the token 9999999; the vocabulary ends at/)))
    expect(refused.slice(5, 9)).toEqual(['top_k', 'top_p', 'min_p', 'temperature'].map((key) => expect.stringContaining(`${key} of trainer.generate cannot be`) as string))
    const finished = made.events.length
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(made.events).toHaveLength(finished)
    expect(refused.at(-1)).toContain('The step of this trainer.generate is over.')
  })

  it('may play the run’s environment over several turns, whose text is masked and whose reward counts', async () => {
    const made = prepare({ ...setUp({ groupSeeds: [7], num_generations: 2 }), reply: (turn) => (turn === 0 ? say('end') : 'done') })
    made.request.environment = made.environment
    made.environment.episodeReward = () => 0.5
    const [episode] = await run(async (prompts, trainer) => {
      const first = await trainer.generate(prompts)
      const suffix = (await trainer.ask('tool_suffix', [[{ name: 'say', content: 'Well said.' }]])) as number[]
      const out = { prompt_ids: first.prompt_ids, completion_ids: [] as number[][], logprobs: [] as number[][], env_mask: [] as number[][], rounds: [1, 2] }
      for (const i of prompts.keys()) {
        const session = await trainer.ask('open', [i])
        await trainer.ask('reset', [session])
        const parsed = (await trainer.ask('parse_tool_calls', [first.text[i]])) as { tool_calls: object[] }
        await trainer.ask('step', [session, parsed.tool_calls[0]])
        const own = [first.completion_ids[i] as number[], first.logprobs[i] as number[]] as const
        const second = await trainer.generate([[...(first.prompt_ids[i] as number[]), ...own[0], ...suffix]], { rows: [i] })
        const more = [second.completion_ids[0] as number[], second.logprobs[0] as number[]] as const
        out.completion_ids.push([...own[0], ...suffix, ...more[0]])
        out.logprobs.push([...own[1], ...suffix.map(() => 0), ...more[1]])
        out.env_mask.push([...own[0].map(() => 1), ...suffix.map(() => 0), ...more[0].map(() => 1)])
      }
      return out
    }, made)
    expect(episode).toMatchObject({ judged: true, exit: 'answered', columns: { rounds: 1 }, turns: [{}, {}] })
    expect(episode?.reward).toBe(0.5)
    expect(chat.plainText(episode?.ids.filter((_, i) => episode.mask[i] === 0 && i >= episode.promptLength) ?? [])).toContain('Well said.')
  })

  it.each<[string, Func]>([
    ['returned nothing', () => undefined],
    ['returned no prompt_ids', () => ({ completion_ids: [] })],
    ['returned 1 prompt_ids for 8 prompts', () => ({ prompt_ids: [[1]], completion_ids: [[1]], logprobs: [[0]] })],
    ['and rollout_func returned no env_mask', async (prompts, trainer) => appended(await trainer.generate(prompts), null)],
    ['but env_mask says 1', async (prompts, trainer) => appended(await trainer.generate(prompts), 1)],
    ['which is no token of this model', async (prompts, trainer) => ({ ...(await trainer.generate(prompts)), completion_ids: prompts.map(() => [-1]) })],
    ['do not fit its', async (prompts, trainer) => ({ ...(await trainer.generate(prompts)), logprobs: prompts.map(() => [0]) })],
    ['at most 0', async (prompts, trainer) => changed(await trainer.generate(prompts))],
    ['has no option heat', (prompts, trainer) => trainer.generate(prompts, { heat: 1 })],
    ['A message has a role', (_, trainer) => trainer.generate([[{ role: 'robot', content: '' }]])],
  ])('that is wrong is refused: %s', async (sentence, func) => {
    await expect(run(func)).rejects.toThrow(sentence)
  })

  it('draws other numbers where the same prompt is written on again, the same ones each time', async () => {
    const twice: Func = async (prompts, trainer) => {
      await trainer.generate(prompts)
      return own(prompts, trainer)
    }
    const first = prepare(setUp({ num_generations: 8 }))
    const texts = async () => (await run(twice, prepare(setUp({ num_generations: 8 })))).map(({ ids }) => ids)
    const again = await texts()
    expect(again).toEqual(await texts())
    expect(again).not.toEqual((await run(own, first)).map(({ ids }) => ids))
  })

  it('that only asks is ended', async () => {
    const made = prepare(setUp({ groupSeeds: [7], num_generations: 1 }))
    let asked = 0
    const endless: Func = async (_, trainer) => {
      for (;;) asked += ((await trainer.ask('encode', [['x']])) as unknown[]).length
    }
    await expect(run(endless, made)).rejects.toMatchObject({ kind: 'config', message: 'rollout_func asked its trainer more than 4000 times in one step, 4000 for each episode, and was ended.' })
    expect(asked).toBe(MOST_ASKED)
  })

  it('does not answer for what the engine could not do', async () => {
    const made = prepare(setUp())
    made.request.sampler.sample = () => Promise.reject(new PlaygroundError('device-lost', 'The GPU was lost.', 'Reload.'))
    await expect(run(own, made)).rejects.toMatchObject({ kind: 'device-lost', message: 'The GPU was lost.' })
  })

  it('that nobody has allowed says where Allow is', async () => {
    const func = { called: 'rollout_func', code: '' }
    const nobody = () => {
      throw new PlaygroundError('config', 'Nothing was allowed.')
    }
    await expect(readyRollout(func, nobody)).rejects.toMatchObject({ message: 'The code of rollout_func was not allowed to run.', advice: expect.stringContaining('Settings → Sampling') as string })
    const refusing = () => ({ live: () => ({ call: () => Promise.resolve({ id: 1, refused: true } as LiveAnswer), end: () => undefined }) })
    await expect(readyRollout(func, refusing)).rejects.toMatchObject({ advice: expect.stringContaining('Settings → Sampling') as string })
  })

  it('is ended with the run', async () => {
    const made = prepare(setUp())
    const stop = new AbortController()
    made.request.signal = stop.signal
    made.request.gate = () => {
      stop.abort()
      return Promise.resolve()
    }
    await expect(run(own, made)).rejects.toThrow('The run was stopped.')
  })
})

type Made = Awaited<ReturnType<Trainer['generate']>>
const appended = (made: Made, bit: 0 | 1 | null) => {
  const extra = encode(' and more')
  return {
    ...made,
    completion_ids: made.completion_ids.map((ids) => [...ids, ...extra]),
    logprobs: made.logprobs.map((list) => [...list, ...extra.map(() => 0)]),
    ...(bit !== null && { env_mask: made.completion_ids.map((ids) => [...ids.map(() => 1), ...extra.map(() => bit)]) }),
  }
}
const changed = (made: Made) => ({ ...made, logprobs: made.logprobs.map((list) => list.map(() => 1)) })
