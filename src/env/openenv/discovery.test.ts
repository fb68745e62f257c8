/** Which tool is offered for which server, and the sentence for servers that we do not know. */

import { describe, expect, it } from 'vitest'
import { refusal } from './catalogue'
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
  const fetch = () =>
    server.schema ? Promise.resolve(Response.json({ action: server.schema })) : Promise.reject(new TypeError('Failed to fetch'))
  const environment = new OpenEnvEnvironment('example.org', { WebSocket, fetch, deadlines: { helloMs: 200 } })
  await environment.connect()
  return { environment, peers }
}

const wrong = (field: string, type: string, expected?: string) =>
  errorFrame('VALIDATION_ERROR', '', { errors: [{ type, loc: [field], msg: '', ctx: expected === undefined ? undefined : { expected } }] })
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
    expect(readTools({ tools: [] })).toBeNull()
    expect(readTools('x')).toBeNull()
  })
})

describe('typed servers', () => {
  it.each<[string, string, Server]>([
    ['catch', 'move', { missing: missing('to'), wrong: wrong('to', 'literal_error', "'left', 'stay' or 'right'") }],
    ['a server whose validator dies of the probe', 'move', { missing: missing('to'), wrong: 'dies' }],
    ['OpenSpiel catch', 'move', { missing: missing('action_id'), wrong: wrong('action_id', 'int_parsing'), state: { game_name: 'catch' } }],
    ['typed echo', 'echo_message', { missing: missing('message'), schema: { title: 'EchoAction', required: ['message'] } }],
    ['TextArena', 'send_message', { missing: missing('message') }],
    [
      'a server older than MCP',
      'send_message',
      { hello: errorFrame('UNKNOWN_TYPE', 'Unknown message type: mcp'), missing: missing('message') },
    ],
    ['grid world', 'move', { missing: missing('action'), wrong: wrong('action', 'enum', "'UP', 'DOWN', 'LEFT' or 'RIGHT'") }],
    ['Connect Four', 'drop', { missing: missing('column'), wrong: wrong('column', 'int_parsing') }],
    ['chess', 'move', { missing: missing('move') }],
    ['reasoning gym', 'answer', { missing: missing('answer') }],
  ])('%s → %s', async (_, tool, server) => {
    const { environment } = await connect(server)
    expect(names(environment)).toEqual([tool])
  })

  it.each<[string, Server, string]>([
    [
      'unknown fields',
      { missing: missing('throttle', 'steer'), wrong: wrong('steer', 'float_parsing') },
      'fields steer (float), throttle (string), which this page does not know',
    ],
    ['another OpenSpiel game', { missing: missing('action_id'), state: { game_name: 'tic_tac_toe' } }, 'plays tic_tac_toe'],
    ['an int called action', { missing: missing('action'), wrong: wrong('action', 'int_parsing') }, 'fields action (integer)'],
    ['other choices called to', { missing: missing('to'), wrong: wrong('to', 'enum', "'north' or 'south'") }, 'to (north | south)'],
    ['no required field', { missing: errorFrame('VALIDATION_ERROR', '', { errors: [] }) }, 'without required fields'],
    ['a server that ran the probe', { missing: observation({}, 1) }, 'did not say which action it takes'],
    ['a server that failed over the probe', { missing: errorFrame('EXECUTION_ERROR', 'boom') }, 'boom'],
  ])('%s: refused in words', async (_, server, words) => {
    await expect(connect(server)).rejects.toThrow(words)
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
      { missing: missing('action_id'), wrong: wrong('action_id', 'int_parsing'), state: { game_name: 'catch' } },
      (frame, peer) =>
        frame.type === 'reset'
          ? peer.send(observation({ info_state: board(3, 2) }))
          : peer.send(observation({ info_state: board(8, 3) }, 0)),
    )
    const session = await environment.open()
    const first = await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    expect(first).toMatchObject({
      text: 'height 9, ball d, paddle c',
      scene: { kind: 'catch', columns: 5, rows: 9, ball: 3, paddle: 2, caught: null },
    })
    expect((await session.step({ name: 'move', arguments: { to: 'right' } })).text).toBe('height 8, ball d, paddle d')
    expect(peers.at(-1)?.received.at(-1)).toBe('{"type":"step","data":{"action_id":2}}')
    await session.close()
  })
})

it('refusal checks names, presence, choices, types and extras before anything is sent', () => {
  const tool = {
    type: 'function',
    function: { name: 'move', description: '', parameters: { type: 'object', properties: { to: { type: 'string', enum: ['a', 'b'] } } } },
  } as const
  expect(refusal(tool, { name: 'go', arguments: {} })).toBe('Error: no tool go.')
  expect(refusal(tool, { name: 'move', arguments: {} })).toBe('Error: to is missing.')
  expect(refusal(tool, { name: 'move', arguments: { to: 'c' } })).toBe('Error: to must be a or b.')
  expect(refusal(tool, { name: 'move', arguments: { to: 'a', x: 1 } })).toBe('Error: no argument x.')
  expect(refusal(tool, { name: 'move', arguments: { to: 'a' } })).toBeNull()
})
