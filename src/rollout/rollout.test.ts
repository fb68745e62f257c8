import { describe, expect, it } from 'vitest'
import { PlaygroundError, UnreadableReplyError } from '../core/errors'
import { verdictOf, type Episode } from '../core/episode'
import { rollout } from './rollout'
import { chat, encode, prepare, say } from './testing/setup'

const first = (episodes: Episode[]): Episode => episodes[0] as Episode
const trained = (episode: Episode): string => chat.text(episode.ids.filter((_, i) => episode.mask[i] === 1))
const GLUE = '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n'

describe('one episode', () => {
  it('records every token with its author, mask and log-prob', async () => {
    const { request, sampler, events } = prepare({
      reply: (turn) => (turn === 0 ? `Hm.\n${say('hi')}` : 'Done.'),
      environment: { reset: () => 'Board', step: () => ({ text: 'You said hi', reward: 0.5, scene: { n: 1 } }) },
      request: { num_generations: 2, system_prompt: 'Be brief.' },
    })
    const episode = first(await rollout(request))
    const messages = [{ role: 'system' as const, content: 'Be brief.' }, { role: 'user' as const, content: 'Play.\n' }]
    const prompt = chat.prompt(messages, request.environment.tools, 'Board').ids
    const turn0 = encode(`Hm.\n${say('hi')}<|im_end|>`)
    const suffix = encode(`\n<|im_start|>user\n<tool_response>\nYou said hi\n</tool_response>${GLUE}`)
    const turn1 = encode('Done.<|im_end|>')
    expect(episode.ids).toEqual([...prompt, ...turn0, ...suffix, ...turn1])
    expect(episode.mask).toEqual([prompt, turn0, suffix, turn1].flatMap((part, i) => part.map(() => i % 2)))
    expect(episode.promptLength).toBe(prompt.length)
    expect(episode.authors.map((author) => (author === 'model' ? 1 : 0))).toEqual(episode.mask)
    expect(chat.text(episode.ids.filter((_, i) => episode.authors[i] === 'environment'))).toBe('BoardYou said hi')
    episode.ids.forEach((id, i) => {
      expect(episode.alternatives[i]).toEqual(episode.mask[i] === 1 ? [{ id, prob: 0.5 }] : null)
      if (episode.mask[i] === 0) expect(episode.logprobs[i]).toBe(0)
      else expect(episode.logprobs[i]).toBeLessThan(0)
    })
    const [a, b, c, d] = [prompt, turn0, suffix, turn1].map((part) => part.length) as [number, number, number, number]
    expect(episode.turns).toEqual([
      {
        start: a,
        end: a + b,
        resultEnd: a + b + c,
        calls: [
          {
            call: { name: 'say', arguments: { word: 'hi' } },
            result: 'You said hi',
            reward: 0.5,
            done: false,
            error: false,
            ms: expect.any(Number) as number,
          },
        ],
        parseError: null,
        scene: { n: 1 },
      },
      { start: a + b + c, end: a + b + c + d, resultEnd: a + b + c + d, calls: [], parseError: null },
    ])
    expect(episode).toMatchObject({ step: 3, index: 0, group: 0, seed: 100 })
    expect(episode).toMatchObject({ reward: 0.5, exit: 'answered', error: null, terminated: true })
    expect(episode.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Play.\nBoard' },
      { role: 'assistant', content: 'Hm.', tool_calls: [{ type: 'function', function: { name: 'say', arguments: { word: 'hi' } } }] },
      { role: 'tool', name: 'say', content: 'You said hi' },
      { role: 'assistant', content: 'Done.' },
    ])
    // The sampled end of turn goes into the cache together with the suffix, in one prefill.
    expect(sampler.calls.filter((call) => call.kind === 'prefill').map((call) => call.tokens)).toEqual([
      prompt.length,
      suffix.length + 1,
      suffix.length + 1,
    ])
    // Each token was drawn from exactly what stands before it.
    const drawn = new Set(sampler.contexts.map((ids) => ids.join()))
    episode.mask.forEach((mask, i) => expect(drawn.has(episode.ids.slice(0, i).join())).toBe(mask === 1))
    // Events tell the same story.
    const mine = events.filter((event) => 'index' in event && event.index === 0)
    const told = mine.flatMap((event) => (event.type === 'tokens' ? event.tokens : event.type === 'episode-started' ? event.prompt : []))
    expect(told.map((token) => token.id)).toEqual(episode.ids)
    expect(told.map((token) => token.author)).toEqual(episode.authors)
    expect(told.map((token) => token.logprob ?? 0)).toEqual(episode.logprobs)
    expect(told.map((token) => token.text).join('')).toBe(chat.text(episode.ids))
    expect(mine.filter((event) => event.type.startsWith('environment'))).toMatchObject([
      { type: 'environment-waiting', turn: 0 },
      { type: 'environment-answered', turn: 0, reward: 0.5, done: false, scene: { n: 1 } },
    ])
    expect(events.filter((event) => event.type === 'episode-finished').map((event) => event.episode.index)).toEqual([0, 1])
  })

  it('ends at once when the environment says done, with nothing appended', async () => {
    const { request, environment } = prepare({
      reply: () => `${say('a')}\n${say('b')}`,
      environment: { step: () => ({ text: 'won', reward: 1, done: true }) },
    })
    const episode = first(await rollout(request))
    expect(episode).toMatchObject({ exit: 'env_done', reward: 1, terminated: true })
    expect(episode.turns).toHaveLength(1)
    expect(episode.turns[0]?.resultEnd).toBe(episode.ids.length)
    expect(trained(episode)).toBe(`${say('a')}\n${say('b')}<|im_end|>`)
    // The second call of the turn came after the end and was not made.
    expect(environment.steps.filter(({ index }) => index === 0).map(({ call }) => call.arguments.word)).toEqual(['a'])
    expect(environment.closed).toBe(environment.opened)
  })

  it('makes several calls of a turn in order and answers them in one user turn', async () => {
    const { request } = prepare({
      reply: (turn) => (turn === 0 ? `${say('a')}\n${say('b')}` : 'ok'),
      environment: { step: (call, n) => ({ text: `${String(call.arguments.word)}${n}`, reward: n }) },
    })
    const episode = first(await rollout(request))
    expect(episode.turns[0]?.calls.map((call) => call.result)).toEqual(['a0', 'b1'])
    expect(chat.text(episode.ids)).toContain('<tool_response>\na0\n</tool_response>\n<tool_response>\nb1\n</tool_response><|im_end|>')
    expect(episode.reward).toBe(1)
  })

  it('answers malformed and ill-typed calls itself and goes on, counting a round each', async () => {
    const unclosed = '<tool_call>\n{"name": "say"'
    const replies = [unclosed, '<tool_call>{"name": "sing"}</tool_call>', '<tool_call>{"name": "say"}</tool_call>', say('x')]
    const { request, environment } = prepare({ reply: (turn) => replies[turn] ?? 'end' })
    const episode = first(await rollout(request))
    expect(episode.turns.map((turn) => turn.parseError)).toEqual(['The tool call was not closed with </tool_call>.', null, null, null])
    expect(episode.turns.map((turn) => turn.calls.map((call) => call.error))).toEqual([[], [true], [true], [false]])
    expect(episode.exit).toBe('turn_limit')
    expect(environment.steps.filter(({ index }) => index === 0)).toHaveLength(1)
    const text = chat.text(episode.ids)
    expect(text).toContain('<tool_response>\nError: The tool call was not closed')
    expect(text).toContain('Error: There is no tool named "sing"')
    expect(text).toContain('needs the argument "word"')
  })

  it('makes the call of the last allowed round and stops after it', async () => {
    const { request } = prepare({
      reply: () => say('again'),
      environment: { step: () => ({ reward: 0.25 }) },
      config: { max_tool_calling_iterations: 3 },
    })
    const episode = first(await rollout(request))
    expect(episode).toMatchObject({ exit: 'turn_limit', reward: 0.75 })
    expect(episode.turns.map((turn) => turn.calls.length)).toEqual([1, 1, 1])
    expect(episode.turns[2]?.resultEnd).toBe(episode.ids.length)
  })
})

describe('budgets', () => {
  const reply = (turn: number): string => (turn === 0 ? say('hi') : 'Done.')
  const turn0 = encode(`${say('hi')}<|im_end|>`).length
  const suffix = encode(`\n<|im_start|>user\n<tool_response>\nok\n</tool_response>${GLUE}`).length
  const play = async (max_completion_length: number, contextLength?: number): Promise<Episode> => {
    const environment = { step: () => ({ text: 'ok', reward: 1 }) }
    return first(await rollout(prepare({ reply, environment, config: { max_completion_length }, contextLength }).request))
  }

  it('counts everything after the prompt', async () => {
    const completion = turn0 + suffix + encode('Done.<|im_end|>').length
    const whole = await play(completion)
    expect(whole).toMatchObject({ exit: 'answered', terminated: true })
    expect(whole.ids.length - whole.promptLength).toBe(completion)
    const cut = await play(completion - 1)
    expect(cut).toMatchObject({ exit: 'token_limit', terminated: false, reward: 1 })
    expect(cut.ids).toEqual(whole.ids.slice(0, -1))
    expect(cut.turns[1]).toMatchObject({ end: cut.ids.length, resultEnd: cut.ids.length })
    expect(cut.messages.at(-1)).toEqual({ role: 'assistant', content: 'Done.' })
  })
  it('does not append a result that would leave no room, but keeps the reward of the step', async () => {
    for (const budget of [turn0, turn0 + 1, turn0 + suffix]) {
      const episode = await play(budget)
      expect(episode).toMatchObject({ exit: 'token_limit', terminated: true, reward: 1 })
      expect(episode.ids.length - episode.promptLength).toBe(turn0)
    }
    const one = await play(turn0 + suffix + 1)
    expect(one.ids.length - one.promptLength).toBe(turn0 + suffix + 1)
  })
  it('makes no call of a turn that the budget cut', async () => {
    const { request, environment } = prepare({ reply, config: { max_completion_length: turn0 - 1 } })
    const episode = first(await rollout(request))
    expect(episode).toMatchObject({ exit: 'token_limit', terminated: false })
    expect(episode.turns[0]).toMatchObject({ calls: [], parseError: null })
    expect(environment.steps).toEqual([])
  })
  it('ends at the context length as well', async () => {
    const prompt = (await play(500)).promptLength
    const episode = await play(500, prompt + turn0 + suffix + 1)
    expect(episode).toMatchObject({ exit: 'token_limit', terminated: false })
    expect(episode.ids.length).toBe(prompt + turn0 + suffix + 1)
    expect(await play(500, prompt + turn0 + suffix)).toMatchObject({ exit: 'token_limit', terminated: true })
  })
  it('refuses a prompt that leaves no room', async () => {
    const prompt = (await play(500)).promptLength
    const refused = prepare({ reply, contextLength: prompt })
    await expect(rollout(refused.request)).rejects.toThrow(PlaygroundError)
    const long = { reset: () => 'word '.repeat(500) }
    const { request, environment } = prepare({ reply, environment: long, contextLength: prompt + 100 })
    const episode = first(await rollout(request))
    expect(episode).toMatchObject({ exit: 'env_error', reward: null, error: expect.stringContaining('the context holds') as string })
    expect(environment.closed).toBe(2)
  })
})

describe('failures', () => {
  it('an environment that fails makes its own episode unscorable and stops no other', async () => {
    const { request, environment, events } = prepare({
      reply: (turn) => (turn < 2 ? say('hi') : 'Done.'),
      request: { num_generations: 4 },
      environment: {
        reset: ({ episode_id }) => {
          if (episode_id.endsWith('episode1')) throw new PlaygroundError('environment', 'No reset today.', 'Try later.')
          return ''
        },
        step: (_, n, { episode_id }) => {
          if (n === 1 && episode_id.endsWith('episode2')) throw new PlaygroundError('environment', 'The socket closed.')
          return { reward: 1 }
        },
      },
    })
    const episodes = await rollout(request)
    expect(episodes.map(({ exit, reward, error }) => [exit, reward, error])).toEqual([
      ['answered', 2, null],
      ['env_error', null, 'No reset today. Try later.'],
      ['env_error', null, 'The socket closed.'],
      ['answered', 2, null],
    ])
    expect(episodes[2]?.turns.map((turn) => turn.calls.length)).toEqual([1, 0])
    expect(environment.closed).toBe(4)
    expect(events.filter((event) => event.type === 'episode-started').map((event) => event.index).sort()).toEqual([0, 1, 2, 3])
  })
  it('an answer that we cannot read is no failure of the environment and no 0', async () => {
    const unreadable = new UnreadableReplyError('A frame is not JSON.', 'Look at the server.')
    const { request } = prepare({
      reply: (turn) => (turn < 2 ? say('hi') : 'Done.'),
      request: { num_generations: 3 },
      environment: {
        reset: ({ episode_id }) => {
          if (episode_id.endsWith('episode1')) throw unreadable
          return ''
        },
        step: (_, n, { episode_id }) => {
          if (n === 1 && episode_id.endsWith('episode2')) throw unreadable
          return { reward: 0 }
        },
      },
    })
    const told = 'A frame is not JSON. Look at the server.'
    expect((await rollout(request)).map((e) => [e.exit, e.reward, e.error, verdictOf(e)])).toEqual([
      ['answered', 0, null, 'said'],
      ['env_unreadable', null, told, 'unreadable'],
      ['env_unreadable', null, told, 'unreadable'],
    ])
  })
  it('an environment that gives no reward is unscorable, and one that is done after reset as well', async () => {
    const silent = prepare({ reply: () => say('x'), environment: { step: () => ({ done: true }) } })
    expect(first(await rollout(silent.request))).toMatchObject({ exit: 'env_done', reward: null })
    const done = prepare({ reply: () => say('x'), environment: { reset: () => ({ done: true, reward: 0 }) } })
    expect(first(await rollout(done.request))).toMatchObject({ exit: 'env_error', reward: null })
  })
  it('an answer that came into doubt after the last call leaves its episode without a reward', async () => {
    const doubt = new PlaygroundError('environment', 'h sent an observation that nobody had asked for.')
    const { request } = prepare({
      reply: (turn) => (turn === 0 ? say('x') : 'Done.'),
      environment: {
        step: () => ({ reward: 1 }),
        settle: (options) => (options?.episode_id.endsWith('episode0') ? Promise.reject(doubt) : Promise.resolve()),
      },
    })
    const [lost, kept] = await rollout(request)
    expect(lost).toMatchObject({ exit: 'env_error', reward: null, error: doubt.message, turns: [{ calls: [{ reward: 1 }] }, {}] })
    expect(kept).toMatchObject({ exit: 'answered', reward: 1 })
  })

  it('a policy that never gets a call into the environment earns 0, whatever the environment makes of no rewards', async () => {
    const given = (rewards: readonly (number | null)[]) => rewards.find((reward) => reward !== null) ?? null
    for (const reply of ['no call at all', '<tool_call>{"name": "sing"}</tool_call>']) {
      const { request } = prepare({ reply: () => reply, environment: { episodeReward: given } })
      expect(first(await rollout(request))).toMatchObject({ reward: 0, success: false })
    }
  })
  it('a sampler that fails rejects, with every session closed', async () => {
    const { request, environment } = prepare({ reply: () => say('x'), samplerDelay: () => Promise.reject(new Error('device lost')) })
    await expect(rollout(request)).rejects.toThrow('device lost')
    expect(environment.opened).toBe(2)
    expect(environment.closed).toBe(2)
  })
})
