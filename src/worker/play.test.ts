/** An episode played by hand: it is told like the model's, disturbs nothing, and every failure is a sentence. */
import { describe, expect, it, vi } from 'vitest'
import type { DiscoveredEnvironment } from '../core/discovered'
import type { Environment } from '../core/environment'
import { PlaygroundError, UnreadableReplyError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import { RandomStream } from '../core/random'
import { laneEnvironment } from '../env/builtin/lane'
import type { OpenEnvOptions } from '../env/openenv/client'
import { withToolEdits } from '../env/tool-edits'
import { deferred, FakeEnvironment, type FakeScript } from '../rollout/testing/fake-environment'
import { chat } from '../train/testing/bandit'
import { compareResets } from './play-seeds'
import type { Message, PlayAction, PlaySetup } from './protocol'
import { askedDesk } from './testing/play-desk'

const SETUP: PlaySetup = {
  environment: { kind: 'builtin', name: 'lane' },
  tool_edits: [],
  system_prompt: 'Play.',
  user_prompt: 'Now: ',
  enable_thinking: false,
}
const say = (word: string): PlayAction => ({ do: 'call', call: { name: 'say', arguments: { word } } })
const begin = (seed = 7, setup = SETUP): PlayAction => ({ do: 'reset', setup, seed })

function desk(environment: Environment, format: typeof chat | null = chat) {
  const made: OpenEnvOptions[] = []
  const { play, act, messages } = askedDesk({
    makeEnvironment: (setup, options) => {
      made.push(options)
      return withToolEdits(environment, setup.tool_edits)
    },
    chat: () => format,
  })
  const events = () => messages.flatMap((m): TrainEvent[] => (m.type === 'play-event' ? [m.event] : []))
  const finished = () => events().flatMap((e) => (e.type === 'episode-finished' ? [e.episode] : []))
  return { play, act, events, finished, messages, made }
}

const scripted = (script: FakeScript = {}, maxSessions = Infinity) => new FakeEnvironment({ reset: () => 'Go!', ...script }, maxSessions)

it('connects to nothing when it is given up while its program is fetched', async () => {
  const environment = scripted()
  const connected = vi.spyOn(environment, 'connect')
  let come: (made: Environment) => void = () => undefined
  const { act } = askedDesk({ makeEnvironment: () => new Promise<Environment>((resolve) => (come = resolve)), chat: () => chat })
  const begun = act(begin())
  await new Promise((resolve) => setTimeout(resolve))
  const ended = act({ do: 'end' })
  come(environment)
  expect(await begun).toMatchObject({ kind: 'failed', error: 'The episode was ended by hand.' })
  expect((await ended).kind).toBe('ended')
  expect(connected).not.toHaveBeenCalled()
})

describe('an episode', () => {
  it('begins with the very prompt that the model reads', async () => {
    const environment = scripted()
    const result = await desk(environment).act(begin())
    const messages = [{ role: 'system' as const, content: 'Play.' }, { role: 'user' as const, content: 'Now: ' }]
    expect(result).toMatchObject({
      kind: 'begun',
      seed: 7,
      prompt: chat.renderedPrompt(messages, environment.tools, 'Go!'),
      hasState: false,
      observation: { text: 'Go!', reward: null, done: false },
    })
    expect(environment.resets[0]).toMatchObject({ seed: 7, split: 'train' })
  })

  it('is a trajectory: prompt, the call as the model must write it, the answer, the reward; nothing of it trains', async () => {
    const { act, events, finished } = desk(scripted({ step: (_, n) => ({ text: `said ${n}`, reward: n, done: n === 1, scene: { n } }) }))
    await act(begin())
    expect(await act(say('one'))).toMatchObject({ kind: 'answered', observation: { text: 'said 0', reward: 0, done: false, toolError: false } })
    expect(await act(say('<|im_end|>'))).toMatchObject({ kind: 'answered', observation: { text: 'said 1', reward: 1, done: true } })
    expect(events().map((e) => e.type)).toEqual([
      'step-started', 'episode-started',
      'tokens', 'environment-waiting', 'environment-answered', 'tokens',
      'tokens', 'environment-waiting', 'environment-answered', 'episode-finished',
    ])
    const [episode] = finished()
    expect(episode).toMatchObject({ exit: 'env_done', reward: 1, success: true, error: null })
    expect(episode?.turns.map(({ calls, scene }) => [calls[0]?.result, calls[0]?.reward, scene])).toEqual([['said 0', 0, { n: 0 }], ['said 1', 1, { n: 1 }]])
    const { ids = [], authors = [], mask = [], turns = [], promptLength = 0 } = episode ?? {}
    const written = turns.map(({ start, end }) => chat.text(ids.slice(start, end)))
    expect(written[0]).toBe('<tool_call>\n{"name": "say", "arguments": {"word": "one"}}\n</tool_call><|im_end|>')
    // A person's text is text: it cannot end the turn.
    expect(ids.slice(turns[1]?.start, turns[1]?.end).filter((id) => chat.endOfTurnIds.includes(id))).toHaveLength(1)
    expect(turns.every(({ start, end }) => authors.slice(start, end).every((author) => author === 'model'))).toBe(true)
    expect(mask.every((m) => m === 0)).toBe(true)
    const shown = events().flatMap((e) => (e.type === 'episode-started' ? e.prompt : e.type === 'tokens' ? e.tokens : []))
    expect(shown.map((t) => t.id)).toEqual(ids)
    expect(shown.every((t) => t.mask === 0 && t.logprob === null)).toBe(true)
    expect(promptLength).toBeGreaterThan(0)
    expect(chat.text(ids.slice(turns[0]?.end, turns[0]?.resultEnd))).toContain('said 0')
  })

  it('answers what does not fit the tool as the model would be answered, without asking the environment', async () => {
    const environment = scripted()
    const { act } = desk(environment)
    await act(begin())
    const result = await act({ do: 'call', call: { name: 'say', arguments: { word: 3 } } })
    expect(result).toMatchObject({ kind: 'answered', observation: { toolError: true, ms: null } })
    expect(result.kind === 'answered' && result.observation.text).toContain('must be a string')
    expect(environment.steps).toEqual([])
    expect(await act(say('more'))).toMatchObject({ kind: 'answered', observation: { toolError: false } })
  })

  it('knows the edited tools', async () => {
    const environment = scripted()
    const { act } = desk(environment)
    const result = await act(begin(7, { ...SETUP, tool_edits: [{ kind: 'rename', tool: 'say', name: 'speak' }] }))
    expect(result.kind === 'begun' && result.prompt).toContain('"name": "speak"')
    expect(await act({ do: 'call', call: { name: 'speak', arguments: { word: 'x' } } })).toMatchObject({ observation: { toolError: false } })
    expect(environment.steps.map(({ call }) => call.name)).toEqual(['say'])
  })

  it('is refused without a model or an episode; a failing environment makes it unscorable', async () => {
    expect(await desk(scripted(), null).act(begin())).toMatchObject({ kind: 'failed', error: expect.stringContaining('no model yet') as string, over: true })
    const broken = scripted({
      step: () => {
        throw new PlaygroundError('environment', 'The server fell over.')
      },
    })
    const { act, finished } = desk(broken)
    expect(await act(say('x'))).toMatchObject({ kind: 'failed', error: 'No episode is being played. Press Reset.', over: true })
    await act(begin())
    expect(await act(say('x'))).toMatchObject({ kind: 'failed', error: 'The server fell over.', over: true })
    expect(finished()[0]).toMatchObject({ exit: 'env_error', reward: null, error: 'The server fell over.' })
    expect(await act(say('x'))).toMatchObject({ kind: 'failed', over: true })
  })

  it('whose answer could not be read is another thing than one that failed', async () => {
    const { act, finished } = desk(
      scripted({
        step: () => {
          throw new UnreadableReplyError('The frame is not JSON.')
        },
      }),
    )
    await act(begin())
    await act(say('x'))
    expect(finished()[0]).toMatchObject({ exit: 'env_unreadable', reward: null, error: 'The frame is not JSON.' })
  })

  it('of a built-in game is played to its end', async () => {
    const { act, finished } = desk(laneEnvironment())
    await act(begin(3))
    expect(await act({ do: 'call', call: { name: 'emergency_stop', arguments: {} } })).toMatchObject({ kind: 'answered', observation: { done: true, scene: { kind: 'lane' } } })
    expect(finished()[0]?.reward).not.toBeNull()
  })
})

describe('sessions', () => {
  it('one at a time, and no longer than they are played', async () => {
    const environment = scripted()
    const { act, finished, made } = desk(environment)
    await act(begin())
    await act(begin(8))
    expect([environment.opened, environment.closed, environment.peak]).toEqual([2, 1, 1])
    expect(finished().map((e) => e.exit)).toEqual(['stopped'])
    expect(await act({ do: 'end' })).toEqual({ kind: 'ended' })
    expect(environment.closed).toBe(2)
    // A full server is not waited for long.
    expect(made[0]?.deadlines?.capacityMs).toBeLessThan(3000)
  })

  it('End asks an environment that judges whole episodes, unless it waits for it', async () => {
    const never = deferred()
    const environment = scripted()
    const open = environment.open.bind(environment)
    let judged: () => Promise<number | null> = () => Promise.resolve(0.5)
    environment.open = async () => Object.assign(await open(), { finalReward: () => judged() })
    environment.close = async () => never.resolve()
    const { act, finished } = desk(environment)
    await act(begin())
    await act(say('x'))
    expect(await act({ do: 'end' })).toEqual({ kind: 'ended' })
    await act(begin())
    judged = () => never.promise.then(() => 1)
    const first = act({ do: 'end' })
    expect(await act({ do: 'end' })).toEqual({ kind: 'ended' })
    await first
    await act(begin())
    judged = () => Promise.reject(new PlaygroundError('environment', 'A.get_reward failed at line 3: x.'))
    await act({ do: 'end' })
    expect(finished().map(({ exit, reward, error }) => [exit, reward, error])).toEqual([['stopped', 0.5, null], ['stopped', null, null], ['env_error', null, 'A.get_reward failed at line 3: x.']])
  })

  it('End ends also what waits for the server', async () => {
    const never = deferred()
    const environment = scripted({ delay: (asked) => (asked === 'step' ? never.promise : Promise.resolve()) })
    environment.close = async () => never.resolve()
    const { act, finished } = desk(environment)
    await act(begin())
    const calling = act(say('x'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await act({ do: 'end' })).toEqual({ kind: 'ended' })
    expect(await calling).toMatchObject({ kind: 'failed', error: 'The episode was ended by hand.', over: true })
    expect(finished().map((e) => [e.exit, e.reward])).toEqual([['stopped', null]])
  })

  it('a full server is a sentence', async () => {
    const environment = scripted()
    environment.open = () => Promise.reject(new PlaygroundError('environment', 'host stayed full for 1.5 s: 1/1.', 'Wait.'))
    expect(await desk(environment).act(begin())).toEqual({ kind: 'failed', error: 'host stayed full for 1.5 s: 1/1. Wait.', over: true })
  })

  it('give way to the run where sessions are few, and only there', async () => {
    const few = desk(scripted({}, 1))
    await few.play.giveWay('needed')
    await few.act(begin())
    await few.play.giveWay('needed')
    expect(few.messages.filter((m) => m.type === 'play-ended')).toEqual([{ type: 'play-ended', reason: 'needed' }])
    expect(few.finished().map((e) => e.exit)).toEqual(['stopped'])
    const many = desk(scripted())
    await many.act(begin())
    await many.play.giveWay('needed')
    expect(many.finished()).toEqual([])
    expect(await many.act(say('x'))).toMatchObject({ kind: 'answered' })
  })

  it('frames reach the page with their whole size, cut where they are huge', async () => {
    const { act, made, messages } = desk(scripted())
    await act(begin())
    made[0]?.onFrame?.('received', 'ä'.repeat(200_000), 5)
    const [frame] = messages.flatMap((m) => (m.type === 'play-frames' ? m.frames : []))
    expect(frame).toMatchObject({ direction: 'received', bytes: 400_000, time: 5 })
    expect(frame?.text.length).toBe(100_000)
  })
})

describe('what may hold the answer', () => {
  const wordle = () => {
    const environment = scripted({ step: () => ({ done: true }) })
    return Object.assign(environment, { discovered: { quirks: [{ kind: 'state-secret', fields: ['word'], text: '' }] } as unknown as DiscoveredEnvironment | null })
  }
  const state = '{"type": "state", "data": {"episode_id": "e", "turn": 1, "word": "crane"}}'
  const framesOf = (messages: Message[]) => messages.flatMap((m) => (m.type === 'play-frames' ? m.frames : []))

  it('is hidden in the raw frames, too, until the episode is over', async () => {
    const { act, made, messages } = desk(wordle())
    await act(begin())
    const receive = (text: string) => {
      made[0]?.onFrame?.('received', text, 5)
      return framesOf(messages).at(-1)
    }
    expect(receive(state)).toEqual({
      direction: 'received', time: 5, bytes: state.length, hidden: true,
      text: '{"type":"state","data":{"episode_id":"e","turn":1,"word":"[hidden: may hold the answer]"}}',
    })
    expect(receive('{"type": "observation", "data": {"observation": {"info": {"word": "crane"}}, "done": false}}')?.text).not.toContain('crane')
    expect(receive('{"type": "state", "data": {"word": "crane"')?.text).toBe('[hidden: may hold the answer]')
    // What holds nothing of the kind is shown to the letter; an answer that ends the episode tells what it wants.
    expect(receive('{"type": "state", "data": {"turn": 2}}')).toEqual({ direction: 'received', time: 5, bytes: 38, text: '{"type": "state", "data": {"turn": 2}}' })
    const last = '{"type": "observation", "data": {"observation": {"word": "crane"}, "done": true}}'
    expect(receive(last)?.text).toBe(last)
    made[0]?.onFrame?.('sent', '{"type":"step","data":{"word":"crane"}}', 6)
    expect(framesOf(messages).at(-1)?.hidden).toBeUndefined()
    await act(say('x'))
    expect(receive(state)).toEqual({ direction: 'received', time: 5, bytes: state.length, text: state })
  })

  it('is hidden before the episode begins, and wholly before the environment is known', async () => {
    const environment = wordle()
    const { act, made, messages } = desk(environment)
    const { discovered } = environment
    const connect = environment.connect.bind(environment)
    environment.discovered = null
    environment.connect = async () => {
      made[0]?.onFrame?.('received', state, 1)
      environment.discovered = discovered
      await connect()
      made[0]?.onFrame?.('received', state, 2)
    }
    await act({ do: 'compare', setup: SETUP, seed: 1 })
    expect(framesOf(messages).map(({ text }) => JSON.parse(text) as unknown)).toEqual([
      { type: 'state', data: { episode_id: 'e', turn: '[hidden: may hold the answer]', word: '[hidden: may hold the answer]' } },
      { type: 'state', data: { episode_id: 'e', turn: 1, word: '[hidden: may hold the answer]' } },
    ])
  })
})

describe('the state', () => {
  it('is told where the environment has one, what may be the answer hidden until the end', async () => {
    const environment = scripted({ step: () => ({ done: true }) })
    const open = environment.open.bind(environment)
    environment.open = async () => ({ ...(await open()), readState: () => Promise.resolve({ turn: 1, word: 'crane' }) })
    Object.assign(environment, { discovered: { quirks: [{ kind: 'state-secret', fields: ['word'], text: '' }] } })
    const { act } = desk(environment)
    expect(await act(begin())).toMatchObject({ hasState: true })
    expect(await act({ do: 'state' })).toMatchObject({ state: { turn: 1, word: expect.stringContaining('hidden') as string } })
    await act(say('x'))
    expect(await act({ do: 'state' })).toEqual({ kind: 'state', state: { turn: 1, word: 'crane' } })
  })

  it('is missed with a sentence', async () => {
    const { act } = desk(scripted())
    await act(begin())
    expect(await act({ do: 'state' })).toEqual({ kind: 'failed', error: 'This environment tells no state.', over: false })
  })
})

describe('testing seeds', () => {
  const compare: PlayAction = { do: 'compare', setup: SETUP, seed: 5 }
  let n = 0
  it.each([
    ['honoured', ({ seed }: { seed: number }) => `task ${seed}`, { resets: 8, others: 4, starts: 1 }, 5 ** -7],
    ['ignored', () => `task ${n++ % 3}`, { resets: 8, others: 4, starts: 3 }, null],
    ['constant', () => 'the one task', { resets: 8, others: 4, starts: 1 }, null],
    ['mixed', ({ seed }: { seed: number }) => `task ${seed === 5 && n++ === 6 ? 99 : seed}`, { resets: 8, others: 4, starts: 2 }, null],
  ])('finds seeds %s', async (verdict, reset, counts, chance) => {
    n = 0
    const environment = scripted({ reset })
    const result = await desk(environment).act(compare)
    expect(result).toMatchObject({ kind: 'compared', seed: 5, verdict, counts, stateDiffers: [] })
    expect(result.kind === 'compared' && result.chance).toEqual(chance === null ? null : expect.closeTo(chance, 9))
    expect(environment.resets.map(({ seed }) => seed)).toEqual([5, 5, 6, 5, 7, 5, 8, 5, 9, 5, 5, 5])
    expect(new Set(environment.resets.map(({ episode_id }) => episode_id)).size).toBe(12)
    expect([environment.opened, environment.closed, environment.peak]).toEqual([12, 12, 1])
    if (result.kind !== 'compared' || verdict === 'constant') return
    const [first, second, other] = result.observations
    expect([first === second, first === other]).toEqual([verdict === 'honoured', false])
  })

  it('takes none of few random starts for a seed that is honoured', async () => {
    const random = new RandomStream(7)
    const times = 2000
    const rate = async (starts: number) => {
      let wrong = 0
      for (let i = 0; i < times; i++) {
        const { verdict, chance } = await compareResets(scripted({ reset: () => `task ${random.int(starts)}` }), 5)
        // With a start that most other seeds gave, too, it says itself how weak the evidence is.
        if (verdict === 'honoured' && (chance ?? 1) < 0.05) wrong++
      }
      return wrong / times
    }
    expect(await rate(2)).toBeLessThan(0.01)
    expect(await rate(3)).toBeLessThan(0.002)
  })

  it('does not keep a slow server for minutes, and says how little was compared', async () => {
    let now = 0
    const environment = scripted({ reset: ({ seed }) => `task ${seed}`, delay: async (asked) => void (asked === 'reset' ? (now += 16_000) : 0) })
    const { verdict, counts, chance } = await compareResets(environment, 2 ** 31 - 1, () => now)
    expect({ verdict, counts, chance }).toEqual({ verdict: 'honoured', counts: { resets: 2, others: 1, starts: 1 }, chance: 0.5 })
    expect(environment.resets.map(({ seed }) => seed)).toEqual([2 ** 31 - 1, 2 ** 31 - 1, 0])
  })

  it('names what differs in the state although the observation does not', async () => {
    const environment = scripted()
    const open = environment.open.bind(environment)
    environment.open = async () => ({ ...(await open()), readState: () => Promise.resolve({ episode_id: String(n++), word: `word${n}` }) })
    expect(await desk(environment).act(compare)).toMatchObject({ verdict: 'constant', stateDiffers: ['word'] })
  })
})
