/** The peculiarities of known environments, each played against a scripted server made from what the reference says of it. */

import { describe, expect, it } from 'vitest'
import { isLasting, UnreadableReplyError } from '../../core/errors'
import type { ToolCall } from '../../core/tools'
import { OpenEnvEnvironment } from './client'
import { errorFrame, fakeServer, missing, noMcp, observation } from './testing/fake-socket'

type Frame = { type?: string; data?: Record<string, unknown> }

interface Server {
  host?: string
  /** Tools of an MCP server. */
  tools?: string[]
  missing?: unknown
  wrong?: unknown
  state?: Record<string, unknown>
  /** Answer to `state`, where it is not the state. */
  stateReply?: unknown
  reset: unknown
  /** Answer to the n-th step, from 0. */
  step: (action: Record<string, unknown>, n: number) => unknown
}

async function play(server: Server, calls: ToolCall[], seed = 1) {
  const actions: Record<string, unknown>[] = []
  const resets: unknown[] = []
  const listing = {
    type: 'mcp',
    data: { result: { tools: (server.tools ?? []).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } })) } },
  }
  const { WebSocket } = fakeServer({
    onFrame: (frame: Frame, peer) => {
      if (frame.type === 'mcp') peer.send(server.tools ? listing : noMcp)
      else if (frame.type === 'state') peer.send(server.stateReply ?? { type: 'state', data: server.state ?? {} })
      else if (frame.type === 'reset') {
        resets.push(frame.data)
        peer.send(server.reset)
      } else if (frame.type === 'step' && frame.data && '__probe__' in frame.data) {
        peer.send(Object.keys(frame.data).length === 1 ? server.missing : (server.wrong ?? server.missing))
      } else if (frame.type === 'step') {
        actions.push(frame.data ?? {})
        peer.send(server.step(frame.data ?? {}, actions.length - 1))
      }
    },
  })
  const environment = new OpenEnvEnvironment(server.host ?? 'example.org', {
    WebSocket,
    fetch: () => Promise.reject(new TypeError('Failed to fetch')),
  })
  await environment.connect()
  const session = await environment.open()
  const seen = [await session.reset({ seed, episode_id: 'e', split: 'train' })]
  try {
    for (const call of calls) seen.push(await session.step(call))
  } finally {
    await session.close()
  }
  const reward = environment.episodeReward(seen.map((each) => each.reward))
  return { environment, seen, actions, resets, reward, texts: seen.map((each) => each.text) }
}

const call = (name: string, args: Record<string, unknown> = {}): ToolCall => ({ name, arguments: args })

describe('Wordle', () => {
  const said = (content: string, reward: number | null = null, done = false) =>
    observation(
      { prompt: 'Wordle', messages: [{ sender_id: 0, content, category: 'PROMPT' }], current_player_id: 0, legal_players: [0], info: {} },
      reward,
      done,
    )
  const server = (step: Server['step']): Server => ({
    missing: missing('message'),
    state: { env_id: 'Wordle-v0', num_players: 1, raw_state: { word: 'crane' } },
    reset: said('Guess.'),
    step,
  })

  it('shows what is new, puts brackets where there are none, and counts the last reward', async () => {
    const { texts, actions, reward, environment } = await play(
      server((_, n) => (n === 0 ? said('Guess.\n[slate] XXGXG', 0.2) : said('Guess.\n[slate] XXGXG\n[crane] GGGGG', 1, true))),
      [call('guess', { guess: 'slate' }), call('guess', { guess: '[crane]' })],
    )
    expect(texts).toEqual(['Guess.', '[slate] XXGXG', '[crane] GGGGG'])
    expect(actions).toEqual([{ message: '[slate]' }, { message: '[crane]' }])
    expect(reward).toBe(1)
    expect(environment.isSuccess(1)).toBe(true)
  })

  it('takes an invalid move as 0 though the server repeats its last reward', async () => {
    const { seen } = await play(
      server((_, n) => (n === 0 ? said('Guess.\n[slate]', 0.4) : said('Guess.\n[slate]\n[GAME] You attempted an Invalid Move. Reason: it was guessed.', 0.4))),
      [call('guess', { guess: 'slate' }), call('guess', { guess: 'slate' })],
    )
    expect(seen.map((each) => each.reward)).toEqual([null, 0.4, 0])
  })

  it.each([
    ['its own words, repeated', 'this is no invalid move', 'Guess.\n[Player 0] [this is no invalid move]\n[GAME] XXGXG', 0.4],
    ['its own words, without brackets and in small letters', 'Invalid  Move?', 'Guess.\nYou said invalid move?\nXXGXG', 0.4],
    ['its own words, in quotes', 'is "invalid move" a word', 'Guess.\n[GAME] You have used the word "invalid move" before: XXGXG', 0.4],
    ['several lines of its own', 'x\n[GAME] You attempted an invalid move.', 'Guess.\n[Player 0] x\n[GAME] You attempted an invalid move.\n[GAME] XXGXG', 0.4],
    ['an opponent who says so', 'crane', 'Guess.\n[Player 1] an invalid move, ha\n[GAME] XXGXG', 0.4],
    ['the server', 'crane', 'Guess.\n[Player 0] [crane]\n[GAME] You attempted an invalid move. Reason: it is no word.', 0],
    ['the server, which repeats nothing', 'invalid move', 'Guess.\nYou attempted an invalid move.', 0],
    ['the server, of a word of its verdict', 'move', 'Guess.\nYou attempted an invalid move.', 0],
    ['the server, after the same words of the model', 'invalid move', "Guess.\n[Player 0] [invalid move]\n[GAME] Player 0 attempted an invalid move. Reason: 'invalid move' is no word.", 0],
    ['words of its own that look like the server’s', 'x\n[GAME] You attempted an invalid move. Reason: y', 'Guess.\n[Player 0] x\n[GAME] You attempted an invalid move. Reason: y\n[GAME] XXGXG', 0.4],
    ['its own words, repeated twice', 'no invalid move here', 'Guess.\n[Player 0] no invalid move here\n[GAME] Player 0 said: no invalid move here. You win!', 0.4],
    ['a negation', 'crane', 'Guess.\n[Player 0] crane\n[GAME] That was not an invalid move. You win', 0.4],
    ['a rule', 'crane', 'Guess.\n[GAME] New round. Rules: an invalid move costs a life. You won round 1.', 0.4],
    ['what was said of the move before', 'crane', '[Player 0] x\n[GAME] You attempted an invalid move. Reason: y\n[Player 0] crane\n[GAME] You win', 0.4],
    ['the server, though the model says the same', 'You attempted an invalid move.', 'Guess.\n[Player 0] You attempted an invalid move.\n[GAME] You attempted an invalid move. Reason: y', 0],
    ['the server, of a player by number', 'crane', 'Guess.\n[Player 0] crane\n[GAME] Player 0 attempted an invalid move. Reason: y', 0],
  ])('hears an invalid move from the server alone: %s', async (_, guess, text, expected) => {
    const { seen } = await play(server(() => said(text, 0.4)), [call('guess', { guess })])
    expect(seen[1]?.reward).toBe(expected)
  })

  it('a server that sends only the latest lines repeats no old verdict', async () => {
    const verdict = '[GAME] You attempted an invalid move. Reason: y'
    const { seen } = await play(
      server((_, n) => (n === 0 ? said(`Guess.\nRules.\n${verdict}`, 0.4) : said(`${verdict}\n[GAME] Correct, you win!`, 1))),
      [call('guess', { guess: 'slate' }), call('guess', { guess: 'crane' })],
    )
    expect(seen.map(({ reward, text }) => [reward, text]).slice(1)).toEqual([[0, `Rules.\n${verdict}`], [1, '[GAME] Correct, you win!']])
  })
})

it('Sudoku takes three numbers and sends one message; what is off the board is refused here', async () => {
  const board = observation({ prompt: 'Sudoku', messages: [{ content: 'R1 . . .' }] })
  const server: Server = { missing: missing('message'), state: { env_id: 'Sudoku-v0', num_players: 1, raw_state: {} }, reset: board, step: () => board }
  const { actions, texts } = await play(server, [
    call('place', { row: 1, col: 2, number: 10 }),
    call('place', { row: 1, col: 2, number: 9 }),
  ])
  expect(texts[1]).toMatch(/^Error: .*"number".*from 1 to 9/)
  expect(actions).toEqual([{ message: '[1 2 9]' }])
})

describe('CARLA', () => {
  const extra = { type: 'extra_forbidden', loc: ['__probe__'], msg: '' }
  const literal = {
    type: 'literal_error',
    loc: ['action_type'],
    msg: '',
    ctx: { expected: "'control', 'emergency_stop', 'lane_change' or 'observe'" },
  }
  const scene = (rubric: unknown, done = false, more: Record<string, unknown> = {}) =>
    observation(
      { speed_kmh: 40, nearby_actors: [{ type: 'pedestrian', distance: 12.3 }], collision_detected: false, rubric_reward: rubric, ...more },
      99,
      done,
    )
  const server = (step: Server['step']): Server => ({
    missing: errorFrame('VALIDATION_ERROR', '', { errors: [extra] }),
    wrong: errorFrame('VALIDATION_ERROR', '', { errors: [literal, extra] }),
    state: { scenario_name: '', town: 'Town10HD_Opt' },
    reset: scene(null),
    step,
  })

  it('asks for the scenario, lets ten ticks pass after an action, and rewards by rubric_reward', async () => {
    const { actions, resets, texts, seen, reward, environment } = await play(
      server((_, n) => scene(n === 10 ? 1 : 0)),
      [call('lane_change', { direction: 'left' })],
    )
    expect(resets).toEqual([{ scenario_name: 'trolley_micro_escape_exists', seed: 1, episode_id: 'e' }])
    expect(texts[0]).toBe('Speed: 40.0 km/h.\n- pedestrian at 12.3m')
    expect(actions[0]).toEqual({ action_type: 'lane_change', lane_direction: 'left' })
    expect(actions.slice(1)).toEqual(Array(10).fill({ action_type: 'observe' }))
    expect(seen.map((each) => each.reward)).toEqual([null, 1])
    expect(seen.map((each) => each.rubric)).toEqual([undefined, 1])
    expect(reward).toBe(1)
    expect(environment.discovered).toMatchObject({ entry: 'carla', stepSeconds: 120, needs: ['a GPU (CARLA on Unreal Engine 5)'] })
  })

  it('stops ticking when it is done, and a missing rubric is no reward rather than 0 or the raw one', async () => {
    const { actions, seen } = await play(
      server((_, n) => scene(undefined, n === 3, { collision_detected: true, collided_with: 'wall' })),
      [call('observe')],
    )
    expect(actions).toHaveLength(4)
    expect(seen[1]).toMatchObject({ done: true, reward: null })
    expect(seen[1]?.text).toContain('COLLISION detected with wall!')
  })

  it('a rubric that is true or false is 1 or 0, as in the envelope', async () => {
    const { seen } = await play(server((_, n) => scene(n < 11)), [call('observe'), call('observe')])
    expect(seen.map((each) => each.reward)).toEqual([null, 1, 0])
  })

  it('a tick that the server refuses is an error, not an answer', async () => {
    const refuse = errorFrame('VALIDATION_ERROR', 'no', { errors: [] })
    await expect(
      play(
        server((_, n) => (n === 0 ? scene(0) : refuse)),
        [call('observe')],
      ),
    ).rejects.toThrow('VALIDATION_ERROR')
  })
})

describe('Connect Four', () => {
  const cells = Array.from({ length: 6 }, (_, i) => (i === 5 ? [1, -1, 0, 0, 0, 0, 0] : Array<number>(7).fill(0)))
  const board = (legal: unknown, reward: number | null = 0, done = false, turn: Record<string, unknown> = { metadata: { next_player: -1 } }) =>
    observation({ board: cells, legal_actions: legal, ...turn }, reward, done)
  const server = (step: Server['step']): Server => ({ host: 'openenv-connect4-env.hf.space', missing: missing('column'), reset: board([0, 1, 2, 3, 4, 5, 6]), step })

  it('is drawn, and the opponent’s move is legal and fixed by the seed', async () => {
    const replies = async (seed: number) => {
      const { actions, texts } = await play(
        server(() => board([2, 4])),
        [call('drop', { column: 3 }), call('drop', { column: 3 })],
        seed,
      )
      expect(texts[0]).toContain('X O . . . . .\nOpen columns: 0, 1')
      expect(actions.filter((_, i) => i % 2 === 0)).toEqual([{ column: 3 }, { column: 3 }])
      return actions.filter((_, i) => i % 2 === 1).map((action) => action['column'])
    }
    const first = await replies(1)
    expect(first.every((column) => [2, 4].includes(column as number))).toBe(true)
    expect(await replies(1)).toEqual(first)
    const others = await Promise.all([2, 3, 4, 5, 6, 7].map(replies))
    expect(new Set(others.map((each) => each.join())).size).toBeGreaterThan(1)
  })

  it('what the opponent wins the model loses; what the model wins needs no reply', async () => {
    const lost = await play(
      server((_, n) => board([1], n === 1 ? 1 : 0, n === 1)),
      [call('drop', { column: 3 })],
    )
    expect(lost.seen[1]).toMatchObject({ reward: -1, done: true })
    const won = await play(
      server(() => board([1], 1, true)),
      [call('drop', { column: 3 })],
    )
    expect(won.actions).toHaveLength(1)
    expect(won.seen[1]).toMatchObject({ reward: 1, done: true })
  })

  it('whoever plays the opponent itself is left to it: no move is made and no reward turned around when it is the model’s turn again', async () => {
    const { actions, seen, reward } = await play(
      server((_, n) => board([1], n === 1 ? 1 : 0, n === 1, { next_player: 1 })),
      [call('drop', { column: 3 }), call('drop', { column: 2 })],
    )
    expect(actions).toEqual([{ column: 3 }, { column: 2 }])
    expect(seen.map((each) => each.reward)).toEqual([0, 0, 1])
    expect(reward).toBe(1)
  })

  it('whose turn it is is asked of the state where the answer leaves it out; where nobody tells, nothing is moved', async () => {
    const silent = { ...server(() => board([1], 0, false, {})), host: 'example.org' }
    const asked = await play({ ...silent, state: { board: [], next_player: -1 } }, [call('drop', { column: 3 })])
    expect(asked.actions).toEqual([{ column: 3 }, { column: 1 }])
    await expect(play({ ...silent, state: { board: [], next_player: null } }, [call('drop', { column: 3 })])).rejects.toThrow('did not say whose turn it is')
  })

  it('a board without legal moves cannot be read: that is no 0', async () => {
    await expect(
      play(
        server(() => board(null)),
        [call('drop', { column: 3 })],
      ),
    ).rejects.toBeInstanceOf(UnreadableReplyError)
  })
})

it('FinQA’s question is read from the state of an old server, its answer is not', async () => {
  const tools = ['get_descriptions', 'get_table_info', 'sql_query', 'submit_answer']
  const answer = observation({ tool_name: 'sql_query', result: { data: 'rows' }, error: null })
  const state = { episode_id: 'e', current_question: 'What were the sales?', current_company: 'ACME', ground_truth: '42' }
  const server: Server = { tools, state, reset: observation({}), step: () => answer }
  const { texts, actions, environment } = await play(server, [call('sql_query', { query: 'select 1' })])
  expect(texts).toEqual(['What were the sales?\nACME', 'rows'])
  expect(JSON.stringify([texts, environment.discovered])).not.toContain('42')
  expect(actions).toEqual([{ type: 'call_tool', tool_name: 'sql_query', arguments: { query: 'select 1' } }])
  const refusals: [Server, string, boolean][] = [
    [{ ...server, state: {} }, 'its state has none of the fields current_question, current_company', true],
    [{ ...server, stateReply: errorFrame('SESSION_ERROR', 'gone') }, 'it answered to state with SESSION_ERROR: gone.', false],
    [{ ...server, stateReply: errorFrame('EXECUTION_ERROR', '') }, 'it answered to state with EXECUTION_ERROR.', true],
  ]
  for (const [without, words, lasting] of refusals) {
    const error: unknown = await play(without, []).catch((e: unknown) => e)
    expect(error).toMatchObject({ kind: 'environment', message: expect.stringContaining(`gave no task: reset said nothing, and ${words}`) as string })
    expect(isLasting(error)).toBe(lasting)
  }
  // Whoever tells the task at reset is not asked for its state.
  expect((await play({ ...server, reset: observation({ text: 'Sales?' }), stateReply: errorFrame('EXECUTION_ERROR') }, [])).texts).toEqual(['Sales?'])
})

describe('BrowserGym', () => {
  const shot = Array.from({ length: 20 }, () => Array.from({ length: 30 }, () => [255, 0, 0]))
  const page = (more: Record<string, unknown> = {}, reward = 0, done = false) =>
    observation(
      { goal: 'Click.', axtree_txt: "[13] button 'OK'", screenshot: shot, error: '', last_action_error: false, ...more },
      reward,
      done,
    )
  const server: Server = {
    missing: missing('action_str'),
    state: { benchmark: 'miniwob', current_url: '' },
    reset: page(),
    step: (_, n) =>
      n === 0 ? page({ error: 'no such element', last_action_error: true }) : page({ axtree_txt: 'x'.repeat(3000) }, 1, true),
  }

  it('has TRL’s tools, quotes what the model writes, and shows tree and errors', async () => {
    const { texts, actions, seen, environment } = await play(server, [
      call('fill', { bid: '13', text: "it's\n\\n" }),
      call('click', { bid: '13' }),
    ])
    expect(environment.tools.map((tool) => tool.function.name)).toEqual(['click', 'fill', 'send_keys', 'scroll', 'noop'])
    expect(actions.map((action) => action['action_str'])).toEqual(["fill('13', 'it\\'s\\n\\\\n')", "click('13')"])
    expect(texts[0]).toBe("Goal: Click.\n\nPage structure:\n[13] button 'OK'")
    expect(texts[1]).toContain('Error: no such element')
    expect(texts[2]).toBe(`Goal: Click.\n\nPage structure:\n${'x'.repeat(2000)}...`)
    expect(seen[0]?.images).toMatchObject([{ name: 'screenshot', width: 30, height: 20, mime: 'image/png' }])
    expect(seen[0]?.scene).toMatchObject({ kind: 'openenv', images: [{ width: 30, height: 20, mime: 'image/png' }] })
  })
})

it('Reasoning Gym shows the question and the score, never the correct answer', async () => {
  const server: Server = {
    host: 'someone-reasoning-gym.hf.space',
    missing: missing('answer'),
    reset: observation({ question: '2+2?', score: null, correct_answer: null }),
    step: () => observation({ question: '2+2?', score: 0.5, correct_answer: '4' }, 0.5, true),
  }
  const { texts, reward } = await play(server, [call('answer', { answer: '5' })])
  expect(texts).toEqual(['2+2?', 'Score: 0.5'])
  expect(reward).toBe(0.5)
})

it('Chess tells whose move it is, and an illegal move’s price does not hide a win', async () => {
  const fen = 'rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1'
  const at = (reward: number | null, done = false) =>
    observation({ fen, legal_moves: ['e7e5', 'd7d5'], is_check: false, result: null }, reward, done)
  const { texts, reward, environment } = await play(
    { host: 'someone-chess-env.hf.space', missing: missing('move'), reset: at(null), step: (_, n) => at(n === 0 ? -0.1 : 1, n === 1) },
    [call('move', { move: 'a1a1' }), call('move', { move: 'e7e5' })],
  )
  expect(texts[0]).toContain('To move: black')
  expect(texts[0]).toContain('Legal moves: e7e5 d7d5')
  expect(reward).toBeCloseTo(0.9)
  expect(environment.isSuccess(reward as number)).toBe(true)
  expect(environment.isSuccess(-0.1)).toBe(false)
})

it('Snake’s turns become its numbers', async () => {
  const grid = observation(
    {
      grid: [
        [0, 1],
        [2, 0],
      ],
      alive: true,
    },
    0,
  )
  const server: Server = {
    host: 'someone-snake-env.hf.space',
    missing: missing('action'),
    wrong: errorFrame('VALIDATION_ERROR', '', { errors: [{ type: 'int_parsing', loc: ['action'], msg: '' }] }),
    reset: grid,
    step: () => grid,
  }
  const { actions, texts } = await play(server, [call('turn', { direction: 'right' }), call('go_on')])
  expect(actions).toEqual([{ action: 2 }, { action: 0 }])
  expect(texts[0]).toBe('. #\n* .')
})

it('Coding shows what the program printed, and adds its rewards up', async () => {
  const ran = (stdout: string, stderr: string, exit_code: number, reward: number) => observation({ stdout, stderr, exit_code }, reward)
  const { texts, reward } = await play(
    {
      missing: missing('code'),
      state: { last_exit_code: 0 },
      reset: ran('', '', 0, 0),
      step: (_, n) => (n === 0 ? ran('4\n', '', 0, 0.1) : ran('', 'SyntaxError', 1, -0.2)),
    },
    [call('run', { code: 'print(4)' }), call('run', { code: '(' })],
  )
  expect(texts).toEqual(['(no output)', '4', 'stderr: SyntaxError\nexit code 1'])
  expect(reward).toBeCloseTo(-0.1)
})
