/** Which tool is offered for which server, and the sentence for servers that we do not know. */

import { describe, expect, it } from 'vitest'
import { withoutSecrets, type DiscoveredEnvironment } from '../../core/discovered'
import { entryOf } from './catalogue'
import { factsFromSchema, readTools } from './discovery'
import { OpenEnvEnvironment } from './client'
import { errorFrame, fakeServer, missing, noMcp, observation, type Peer } from './testing/fake-socket'

interface Server {
  hello?: unknown
  /** Answer to the first probe, which gives nothing. */
  missing: unknown
  /** Answer to the second one, which gives nonsense. */
  wrong?: unknown
  state?: Record<string, unknown>
  schema?: unknown
  /** What /metadata says, where it can be read. */
  metadata?: unknown
}

async function connect(server: Server, played?: (frame: { type?: string; data?: Record<string, unknown> }, peer: Peer) => void) {
  const { WebSocket, peers } = fakeServer({
    onFrame: (frame, peer) => {
      if (frame.type === 'mcp') peer.send(server.hello ?? noMcp)
      else if (frame.type === 'state') peer.send({ type: 'state', data: server.state ?? {} })
      else if (frame.type === 'step' && frame.data && '__probe__' in frame.data) {
        const answer = Object.keys(frame.data).length === 1 ? server.missing : (server.wrong ?? server.missing)
        if (answer === 'dies') peer.hangUp(1000)
        else peer.send(answer)
      } else played?.(frame, peer)
    },
  })
  const fetch = (input: unknown) => {
    const told = String(input).endsWith('/metadata') ? server.metadata : server.schema && { action: server.schema }
    return told ? Promise.resolve(Response.json(told)) : Promise.reject(new TypeError('Failed to fetch'))
  }
  const environment = new OpenEnvEnvironment('example.org', { WebSocket, fetch, deadlines: { helloMs: 200 } })
  await environment.connect()
  return { environment, peers }
}

const wrong = (field: string, type: string, expected?: string) =>
  errorFrame('VALIDATION_ERROR', '', { errors: [{ type, loc: [field], msg: '', ctx: expected === undefined ? undefined : { expected } }] })
const extra = (field: string) => ({ type: 'extra_forbidden', loc: [field], msg: '' })
/** States as official servers tell them. */
const openspiel = (game_name: string) => ({ game_name, agent_player: 0, opponent_policy: 'random' })
const arena = (env_id: string) => ({ env_id, num_players: 1, raw_state: { secret: 'crane' } })
const names = (environment: OpenEnvEnvironment) => environment.tools.map((tool) => tool.function.name)

describe('MCP servers', () => {
  it('give their tools, in either spelling, without decoration', async () => {
    const schema = {
      type: 'object',
      title: 'T',
      additionalProperties: false,
      required: ['n'],
      properties: { n: { title: 'N', type: 'integer', default: 1 } },
    }
    for (const key of ['input_schema', 'inputSchema']) {
      const tools = [{ name: 'measure', description: null, [key]: schema, meta: {} }]
      const { environment, peers } = await connect({ hello: { type: 'mcp', data: { result: { tools } } }, missing: null })
      expect(environment.tools).toEqual([
        {
          type: 'function',
          function: {
            name: 'measure',
            description: '',
            parameters: { type: 'object', properties: { n: { type: 'integer', default: 1 } }, required: ['n'] },
          },
        },
      ])
      expect(peers[0]?.received.at(-1)).toBe('{"type":"close"}')
    }
    const odd = { type: 'object', required: true, properties: { x: null, y: { type: 'string', enum: null, items: null } }, $defs: null }
    const [tool] = readTools({ tools: [{ name: 'odd', inputSchema: odd }] }) ?? []
    expect(tool?.function.parameters).toEqual({ type: 'object', properties: { x: {}, y: { type: 'string' } } })
    expect(readTools({ tools: [{ title: 'nameless' }, { name: 'good' }, null] })?.map((each) => each.function.name)).toEqual(['good'])
    expect(readTools({ tools: [] })).toBeNull()
    expect(readTools('x')).toBeNull()
  })

  it('are refused by the name of a tool that is described at absurd length, before anyone counts its tokens', async () => {
    const offers = (tool: object) => connect({ hello: { type: 'mcp', data: { result: { tools: [{ name: 'short' }, { name: 'look', ...tool }] } } }, missing: null })
    const long = 'x'.repeat(1_000_000)
    const said = /example\.org describes its tool look with 1,000,\d{3} characters; at most 20,000 are read\./
    await expect(offers({ description: long })).rejects.toThrow(said)
    await expect(offers({ input_schema: { type: 'object', properties: { a: { type: 'string', description: long } } } })).rejects.toThrow(said)
    expect(names((await offers({ description: 'x'.repeat(19_000) })).environment)).toEqual(['short', 'look'])
  })
})

describe('typed servers', () => {
  it.each<[string, string, Server]>([
    ['catch', 'move', { missing: missing('to'), wrong: wrong('to', 'literal_error', "'left', 'stay' or 'right'") }],
    ['a server whose validator dies of the probe', 'move', { missing: missing('to'), wrong: 'dies' }],
    [
      'OpenSpiel catch',
      'move stay',
      { missing: missing('action_id'), wrong: wrong('action_id', 'int_parsing'), state: openspiel('catch') },
    ],
    [
      'typed echo',
      'echo',
      { missing: missing('message'), schema: { title: 'EchoAction', required: ['message'], properties: { message: { type: 'string' } } } },
    ],
    ['TextArena', 'send_message', { missing: missing('message') }],
    [
      'a server older than MCP',
      'send_message',
      { hello: errorFrame('UNKNOWN_TYPE', 'Unknown message type: mcp'), missing: missing('message') },
    ],
    ['grid world', 'move', { missing: missing('action'), wrong: wrong('action', 'enum', "'UP', 'DOWN', 'LEFT' or 'RIGHT'"), metadata: { name: 'GridWorldEnvironment' } }],
    ['a column without a name', 'set_column', { missing: missing('column'), wrong: wrong('column', 'int_parsing') }],
    ['chess', 'move', { missing: missing('move'), state: { fen: '', current_player: '', move_history: [] } }],
    ['reasoning gym', 'answer', { missing: missing('answer'), schema: { title: 'ReasoningGymAction', required: ['answer'], properties: { answer: { type: 'string' } } } }],
  ])('%s → %s', async (_, tool, server) => {
    const { environment } = await connect(server)
    expect(names(environment).join(' ')).toBe(tool)
  })

  it.each<[string, string, Server]>([
    ['Wordle, by its state', 'guess', { missing: missing('message'), state: arena('Wordle-v0') }],
    ['Sudoku, by its state', 'place', { missing: missing('message'), state: arena('Sudoku-v0') }],
    ['another OpenSpiel game', 'play', { missing: missing('action_id'), state: openspiel('tic_tac_toe') }],
    ['Atari', 'press', { missing: missing('action_id'), state: { game_name: 'pong', obs_type: 'rgb' } }],
    [
      'CARLA, whose action has no required field',
      'observe emergency_stop lane_change',
      {
        missing: errorFrame('VALIDATION_ERROR', '', { errors: [extra('__probe__')] }),
        wrong: wrong('action_type', 'literal_error', "'control', 'emergency_stop', 'lane_change' or 'observe'"),
        state: { scenario_name: '', town: 'Town10HD_Opt' },
      },
    ],
    ['an unknown action, by its refusals', 'act', { missing: missing('throttle', 'steer'), wrong: wrong('steer', 'float_parsing') }],
    ['other choices called to', 'set_to', { missing: missing('to'), wrong: wrong('to', 'enum', "'north' or 'south'") }],
    [
      'an unknown action of several kinds, by its schema',
      'turn_left jump',
      {
        missing: missing('action_type'),
        schema: {
          title: 'RobotAction',
          required: ['action_type'],
          properties: { action_type: { type: 'string', enum: ['turnLeft', 'jump'] }, height: { type: 'integer' }, metadata: {} },
        },
      },
    ],
    [
      'an unknown action with a title',
      'paint_wall',
      {
        missing: missing('colour'),
        schema: { title: 'PaintWallAction', required: ['colour'], properties: { colour: { type: 'string' } } },
      },
    ],
  ])('%s → %s', async (_, tools, server) => {
    const { environment } = await connect(server)
    expect(names(environment).join(' ')).toBe(tools)
  })

  it('is not asked for its name where the rest tells: a real server builds an environment for that, and answers nobody meanwhile', async () => {
    const asked: string[] = []
    const { WebSocket } = fakeServer({
      onFrame: (frame, peer) =>
        peer.send(frame.type === 'mcp' ? noMcp : frame.type === 'state' ? { type: 'state', data: arena('Wordle-v0') } : missing('message')),
    })
    const fetch = (url: unknown) => {
      asked.push(new URL(String(url)).pathname)
      return Promise.reject(new TypeError('Failed to fetch'))
    }
    const environment = new OpenEnvEnvironment('example.org', { WebSocket, fetch, deadlines: { helloMs: 200 } })
    await environment.connect()
    expect(environment.discovered?.entry).toBe('wordle')
    expect(asked).toEqual(['/schema'])
  })

  it.each([
    ['connect4', 'column', { board: [], next_player: 1 }],
    ['maze', 'action', { current_position: [0, 0], exit_cell: [7, 7] }],
    ['wildfire', 'action', { burn_timers: [] }],
  ])('%s is told by the fields of its state', async (id, field, state) => {
    const { environment } = await connect({ missing: missing(field), state })
    expect(environment.discovered?.entry).toBe(id)
    expect((await connect({ missing: missing(field), wrong: wrong(field, 'int_parsing') })).environment.discovered?.entry).toBeNull()
  })

  it('is helped by /metadata where it can be read: the name tells which, the description is a note', async () => {
    const server = { missing: missing('action'), wrong: wrong('action', 'int_parsing') }
    expect(names((await connect(server)).environment)).toEqual(['set_action'])
    const { environment } = await connect({ ...server, metadata: { name: 'snake_env', description: 'Eat apples.' } })
    expect(names(environment)).toEqual(['turn', 'go_on'])
    expect(environment.discovered).toMatchObject({ entry: 'snake', evidence: 'played', notes: [...(entryOf('snake')?.notes ?? []), 'The server says: Eat apples.'] })
    const odd = await connect({ ...server, metadata: { name: 7, description: null } })
    expect(odd.environment.discovered).toMatchObject({ entry: null, title: 'example.org', notes: [] })
  })

  it('never asks the state for more than what it is called, so that no answer leaks', async () => {
    const { environment } = await connect({ missing: missing('message'), state: arena('Wordle-v0') })
    expect(JSON.stringify(environment.discovered)).not.toContain('secret word is')
    expect(JSON.stringify({ ...environment.discovered, prompts: null, tools: null })).not.toContain('crane')
    expect(withoutSecrets(environment.discovered as DiscoveredEnvironment, { turn: 1, raw_state: { secret: 'crane' } })).toEqual({
      turn: 1,
      raw_state: '[hidden: may hold the answer]',
    })
  })

  it('whoever takes a message is described in its own words, optional fields included, where its schema can be read; where not, that is said', async () => {
    const schema = {
      title: 'GuessAction',
      required: ['message'],
      properties: {
        message: { type: 'string', description: 'Your guess, a number from 1 to 8' },
        channel: { type: 'string', enum: ['a', 'b'], default: 'a' },
        metadata: { type: 'object' },
      },
    }
    const stepped: unknown[] = []
    const { environment } = await connect({ missing: missing('message'), schema }, (frame, peer) => {
      if (frame.type === 'step') stepped.push(frame.data)
      peer.send(observation({ text: 'x' }, 0))
    })
    expect(environment.tools[0]?.function).toMatchObject({
      name: 'send_message',
      parameters: {
        properties: { message: { description: 'Your guess, a number from 1 to 8' }, channel: { enum: ['a', 'b'], default: 'a' } },
        required: ['message'],
      },
    })
    const session = await environment.open()
    await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    await session.step({ name: 'send_message', arguments: { message: '4', channel: 'b' } })
    expect(stepped).toEqual([{ message: '4', channel: 'b' }])
    await session.close()
    const unread = 'Its /schema could not be read, so its fields are without the server’s own descriptions, and optional fields, if it has any, are missing.'
    for (const server of [{ missing: missing('message') }, { missing: missing('speed'), wrong: wrong('speed', 'int_parsing') }]) {
      expect((await connect(server)).environment.discovered?.recognised).toContain(unread)
    }
    expect(environment.discovered?.recognised).not.toContain(unread)
  })

  it('says what proved a known environment', async () => {
    const by = async (server: Server) => (await connect(server)).environment.discovered?.recognised
    expect(await by({ missing: missing('message'), state: arena('Wordle-v0') })).toBe(
      'Its action fits Wordle (TextArena); what proves it: the fields of its state (env_id, num_players, raw_state).',
    )
  })

  it('an unknown action keeps what its schema says, and says so', async () => {
    const fields = {
      speed: { anyOf: [{ type: 'number', minimum: 0, maximum: 9 }, { type: 'null' }], default: null, title: 'Speed' },
      gear: { $ref: '#/$defs/Gear' },
      metadata: { type: 'object' },
    }
    const schema = {
      title: 'DriveAction',
      required: ['gear'],
      properties: fields,
      $defs: { Gear: { enum: ['low', 'high'], type: 'string', title: 'Gear' } },
    }
    const { environment, peers } = await connect({ missing: missing('gear'), schema }, (frame, peer) =>
      peer.send(observation({ text: frame.type }, 0)),
    )
    expect(environment.tools[0]?.function).toEqual({
      name: 'drive',
      description: 'Takes the action DriveAction.',
      parameters: {
        type: 'object',
        properties: { speed: { type: 'number', nullable: true, minimum: 0, maximum: 9 }, gear: { type: 'string', enum: ['low', 'high'] } },
        required: ['gear'],
      },
    })
    expect(environment.discovered).toMatchObject({
      entry: null,
      evidence: 'server',
      recognised: expect.stringContaining('its own schema') as string,
    })
    const session = await environment.open()
    await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    expect((await session.step({ name: 'drive', arguments: { gear: 'low', speed: 12 } })).text).toMatch(/speed.*from 0 to 9/)
    await session.step({ name: 'drive', arguments: { gear: 'low', speed: null } })
    expect(peers.at(-1)?.received.slice(-1)).toEqual(['{"type":"step","data":{"gear":"low"}}'])
    await session.close()
  })

  it.each<[string, Server, string]>([
    [
      'fields of which nothing is known',
      { missing: missing('throttle', 'steer'), wrong: 'dies' },
      'fields steer, throttle, which this page does not know',
    ],
    ['no required field', { missing: errorFrame('VALIDATION_ERROR', '', { errors: [] }), wrong: 'dies' }, 'requires no field of its action, and without its /schema'],
    ['token ids', { missing: missing('tokens'), wrong: wrong('tokens', 'list_type'), state: { history_messages: [], history_tokens: [] } }, 'token ids of the server’s own tokenizer'],
    ['a union of actions', { missing: errorFrame('VALIDATION_ERROR', '', { errors: [{ type: 'union_tag_not_found', loc: [], msg: '' }] }) }, 'as Agent World Model does, which lists them only after a reset'],
    ['only a type of an optional field', { missing: errorFrame('VALIDATION_ERROR', '', { errors: [extra('__probe__')] }) }, 'which optional ones there are but action_type (string)'],
    ['a server that answers with a page', { missing: errorFrame('EXECUTION_ERROR', `<html>${'x'.repeat(10_000)}`) }, 'x'.repeat(290) + '….'],
    ['a server that ran the probe', { missing: observation({}, 1) }, 'did not say which action it takes'],
    ['a server that failed over the probe', { missing: errorFrame('EXECUTION_ERROR', 'boom') }, 'boom'],
  ])('%s: refused in words', async (_, server, words) => {
    await expect(connect(server)).rejects.toThrow(words)
  })

  it.each<[string, unknown]>([
    ['0, 1 or 2', { type: 'integer', enum: [0, 1, 2] }],
    ['-1, 0.5 or 1e-05', { type: 'number', enum: [-1, 0.5, 1e-5] }],
    ['True or False', { type: 'boolean', enum: [true, false] }],
    [`'left', "it's", 'a\\\\b', 'say "2"' or ''`, { type: 'string', enum: ['left', "it's", 'a\\b', 'say "2"', ''] }],
    ["'auto', 3 or None", { enum: ['auto', 3], nullable: true }],
    ['', { type: 'string' }],
    ['nothing that can be read', { type: 'string' }],
  ])('a refusal that expects %s allows just that', async (list, schema) => {
    for (const type of ['literal_error', 'enum']) {
      const { environment } = await connect({ missing: missing('gear'), wrong: wrong('gear', type, list) })
      expect(environment.tools[0]?.function.parameters.properties).toEqual({ gear: schema })
    }
  })

  it('an empty list of choices in the schema forbids nothing', async () => {
    const schema = { required: ['gear'], properties: { gear: { type: 'integer', enum: [] } } }
    const { environment } = await connect({ missing: missing('gear'), schema })
    expect(environment.tools[0]?.function.parameters.properties).toEqual({ gear: { type: 'integer' } })
    expect(factsFromSchema(schema)?.choices).toEqual({})
  })

  it('the schema tells choices through $ref, and a game by its default', () => {
    const facts = factsFromSchema({
      title: 'A',
      required: ['b', 'a'],
      properties: { a: { $ref: '#/$defs/M' }, b: { type: 'integer' }, game_name: { type: 'string', default: 'catch' } },
      $defs: { M: { type: 'string', enum: ['UP', 'DOWN'] } },
    })
    expect(facts).toMatchObject({ required: ['a', 'b'], choices: { a: ['UP', 'DOWN'] }, types: { b: 'integer' }, game: 'catch' })
  })

  it("OpenSpiel's catch is played in words: numbers out, letters in", async () => {
    const board = (ball: number, paddle: number) => Array.from({ length: 50 }, (_, i) => (i === ball || i === 45 + paddle ? 1 : 0))
    const { environment, peers } = await connect(
      { missing: missing('action_id'), wrong: wrong('action_id', 'int_parsing'), state: openspiel('catch') },
      (frame, peer) =>
        frame.type === 'reset'
          ? peer.send(observation({ info_state: board(3, 2) }))
          : peer.send(observation({ info_state: board(8, 3) }, 0)),
    )
    const session = await environment.open()
    const first = await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    expect(first).toMatchObject({
      text: 'Ball: row 1 of 10, column 4 of 5. Paddle: column 3. The ball is 1 column to the right.',
      scene: { kind: 'catch', columns: 5, rows: 9, height: 9, ball: 3, paddle: 2, caught: null },
    })
    expect((await session.step({ name: 'move', arguments: { direction: 'right' } })).text).toContain('The ball is above the paddle.')
    expect(peers.at(-1)?.received.at(-1)).toBe('{"type":"step","data":{"action_id":2}}')
    expect((await session.step({ name: 'move', arguments: { direction: 'up' } })).text).toMatch(/^Error: .*"left", "right"/)
    await session.step({ name: 'stay', arguments: {} })
    expect(peers.at(-1)?.received.at(-1)).toBe('{"type":"step","data":{"action_id":1}}')
    expect(environment.episodeReward([null, 0, -1])).toBe(0)
    await session.close()
  })
})
