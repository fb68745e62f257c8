/** What the catalogue claims: all environments of the reference, nothing twice, nothing that was not seen, and samples that play. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toolsFound } from '../../../core/discovered'
import type { Observation } from '../../../core/environment'
import { checkToolCall } from '../../../core/tool-schema'
import type { JsonSchema, ToolCall } from '../../../core/tools'
import { OpenEnvEnvironment } from '../client'
import { recordedEpisode } from '../recorded-episode'
import { parseRecording } from '../recording'
import { noMcp, fakeServer } from '../testing/fake-socket'
import { discoveredTool, planCall } from '../typed-tools'
import { CATALOGUE, entryOf, findMcp, findTyped, NO_FACTS, type ActionFacts, type Entry } from './index'

/** Section 4.7 of the reference: 35 environments. */
const REPOSITORY =
  'agent_world_model atari browsergym calendar carla chat chess coding coding_tools connect4 dipg_safety dm_control echo finqa finrl git grid_world julia jupyter kernrl maze openapp opencode openspiel reasoning_gym repl snake sophistry_bench_sprint sumo_rl tbench2 terminus textarena unity websearch wildfire'
const PUBLIC = new URL('../../../../public/', import.meta.url)

const facts = (given: Partial<ActionFacts>): ActionFacts => ({ ...NO_FACTS, ...given })
const typed = CATALOGUE.filter((each) => each.family === 'typed' && each.unsupported === null)

describe('the catalogue', () => {
  it('holds every environment of the reference, each once', () => {
    const ids = CATALOGUE.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(REPOSITORY.split(' ')).toHaveLength(35)
    expect(REPOSITORY.split(' ').filter((id) => entryOf(id) === null)).toEqual([])
    expect(entryOf('nothing')).toBeNull()
  })

  it('claims to have played only what is recorded, and every recording is shipped and used', () => {
    for (const { id, evidence, recording } of CATALOGUE) {
      if (evidence === 'played') expect(recording, id).not.toBeNull()
      if (recording !== null) expect(existsSync(new URL(recording, PUBLIC)), recording).toBe(true)
    }
    // Whatever has none says why.
    for (const { id, recording, unrecorded, unsupported } of CATALOGUE) expect(recording !== null, id).toBe((unrecorded ?? unsupported) === null)
    const shipped = readdirSync(new URL('environments/', PUBLIC)).map((file) => `environments/${file}`)
    expect(shipped.filter((file) => !CATALOGUE.some(({ recording }) => recording === file))).toEqual([])
  })

  it('says what needs a GPU or a paid service', () => {
    const needing = (pattern: RegExp) =>
      CATALOGUE.filter(({ needs }) => needs.some((need) => pattern.test(need)))
        .map(({ id }) => id)
        .sort()
    expect(needing(/GPU/)).toEqual(['carla', 'kernrl'])
    expect(needing(/paid/)).toEqual(['coding_tools', 'jupyter', 'opencode', 'terminus', 'websearch'])
  })

  it('gives each typed environment named tools, none of them called step', () => {
    for (const { id, tools } of typed) {
      expect(tools.length, id).toBeGreaterThan(0)
      const names = tools.map(({ tool }) => tool.function.name)
      expect(new Set(names).size, id).toBe(names.length)
      for (const name of names) expect(name, id).toMatch(/^(?!step$|reset$|state$|close$)[a-z_]+$/)
    }
    expect(CATALOGUE.filter(({ family, tools }) => family === 'mcp' && tools.length > 0)).toEqual([])
  })

  it('has every parameter of every tool described (but where a tool must equal the built-in one), and sends it', () => {
    for (const { id, tools } of typed) {
      for (const { tool, fields } of tools) {
        const parameters = Object.keys(tool.function.parameters.properties ?? {})
        const used = JSON.stringify(fields)
        for (const parameter of parameters) {
          if (id !== 'catch') expect(tool.function.parameters.properties?.[parameter]?.description, `${id}.${parameter}`).toBeTruthy()
          expect(used.includes(`"from":"${parameter}"`) || used.includes(`{${parameter}`), `${id}.${parameter}`).toBe(true)
        }
      }
    }
  })
})

/** A value that a parameter allows. */
function sample(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'array') return [sample(schema.items ?? {})]
  return schema.type === 'integer' || schema.type === 'number' ? (schema.minimum ?? 1) : 'x'
}

describe('calls become actions', () => {
  it.each(typed.map((each): [string, Entry] => [each.id, each]))(
    '%s: every tool can be called, and its action has every required field',
    (_, each) => {
      const found = { ...SHELL, tools: each.tools.map(discoveredTool) }
      for (const { tool } of each.tools) {
        const { name, parameters } = tool.function
        const call: ToolCall = {
          name,
          arguments: Object.fromEntries(Object.entries(parameters.properties ?? {}).map(([key, schema]) => [key, sample(schema)])),
        }
        expect(checkToolCall(call, [tool])).toBeNull()
        const plan = planCall(found, call)
        expect(plan.kind).toBe('send')
        if (plan.kind === 'send')
          for (const field of (each.required ?? '').split(',').filter(Boolean)) expect(plan.action).toHaveProperty(field)
      }
    },
  )

  it.each<[string, ToolCall, Record<string, unknown>]>([
    ['wildfire', { name: 'firebreak', arguments: { x: 1, y: 2 } }, { action: 'break', x: 1, y: 2 }],
    ['git', { name: 'clone_repo', arguments: { repo_name: 'a' } }, { action_type: 'clone_repo', repo_name: 'a' }],
    ['git', { name: 'execute_git_command', arguments: { command: 'log' } }, { action_type: 'execute_git_command', command: 'log' }],
    ['openapp', { name: 'fill', arguments: { bid: '3', text: 'hi' } }, { action_type: 'fill', bid: '3', text: 'hi' }],
    ['repl', { name: 'finish', arguments: { answer: '4' } }, { code: '', is_final: true, final_answer: '4' }],
    ['tbench2', { name: 'evaluate', arguments: {} }, { action_type: 'evaluate' }],
    ['finrl', { name: 'trade', arguments: { actions: [0.5, -1] } }, { actions: [0.5, -1] }],
    ['julia', { name: 'run', arguments: { code: '1' } }, { core_code: '1' }],
    ['dipg_safety', { name: 'respond', arguments: { response: 'a' } }, { llm_response: 'a' }],
    ['grid_world', { name: 'move', arguments: { direction: 'UP' } }, { action: 'UP' }],
  ])('%s: %j', (id, call, action) => {
    const found = { ...SHELL, tools: (entryOf(id)?.tools ?? []).map(discoveredTool) }
    expect(planCall(found, call)).toMatchObject({ kind: 'send', action })
  })
})

const SHELL = { ...toolsFound('h', []), family: 'typed', title: '', evidence: 'source' } as const

/** States as official servers tell them. */
const OPENSPIEL = ['game_name', 'agent_player', 'opponent_policy']
const TEXTARENA = ['env_id', 'num_players', 'raw_state']
const int = (field: string): Partial<ActionFacts> => ({ required: [field], types: { [field]: 'integer' } })
const str = (field: string): Partial<ActionFacts> => ({ required: [field], types: { [field]: 'string' } })
const UP = ['UP', 'DOWN', 'LEFT', 'RIGHT']

describe('recognising', () => {
  it.each<[string, Partial<ActionFacts>]>([
    ['catch', { required: ['to'], choices: { to: ['left', 'stay', 'right'] } }],
    ['openspiel-catch', { ...int('action_id'), game: 'catch', stateFields: OPENSPIEL }],
    ['openspiel', { ...int('action_id'), game: 'kuhn_poker', stateFields: OPENSPIEL }],
    ['openspiel', { ...int('action_id'), names: 'openenv-openspiel-env.hf.space' }],
    ['atari', { ...int('action_id'), stateFields: ['game_name', 'obs_type'], game: 'pong' }],
    ['wordle', { ...str('message'), game: 'Wordle-v0', stateFields: TEXTARENA }],
    ['wordle', { ...str('message'), names: 'openenv-wordle.hf.space openenv/wordle' }],
    ['sudoku', { ...str('message'), game: 'Sudoku-v0-easy', stateFields: TEXTARENA }],
    ['textarena', { ...str('message'), game: 'TicTacToe-v0', stateFields: TEXTARENA, names: 'my-wordle.hf.space' }],
    ['echo-typed', { ...str('message'), title: 'EchoAction' }],
    ['echo-typed', { ...str('message'), names: 'qgallouedec-echo-env.hf.space' }],
    ['message', str('message')],
    ['grid_world', { required: ['action'], choices: { action: UP }, title: 'GridWorldAction' }],
    ['grid_world', { required: ['action'], choices: { action: UP }, names: 'localhost:8000 GridWorldEnvironment' }],
    ['wildfire', { required: ['action'], choices: { action: ['break', 'water', 'wait'] }, names: 'openenv/wildfire_env' }],
    ['maze', { ...int('action'), title: 'MazeAction' }],
    ['snake', { ...int('action'), names: 'openenv/snake_env' }],
    ['connect4', { ...int('column'), names: 'openenv/connect4_env' }],
    ['carla', { choices: { action_type: ['observe', 'emergency_stop', 'lane_change', 'control'] }, stateFields: ['scenario_name', 'town'] }],
    ['carla', { names: 'sergiopaniego-carla-env.hf.space' }],
    ['unity', { title: 'UnityAction', fields: { discrete_actions: {}, continuous_actions: {} } }],
    ['git', { required: [], types: { action_type: 'string' }, stateFields: ['gitea_ready'] }],
    ['git', { required: ['action_type'], choices: { action_type: ['list_repos', 'clone_repo', 'execute_git_command'] }, title: 'GitAction' }],
    ['openapp', { ...str('action_type'), title: 'OpenAppAction' }],
    ['tbench2', { types: { action_type: 'string' }, stateFields: ['terminal_ready', 'task_path'] }],
    ['kernrl', { ...str('code'), names: 'someone/kernrl' }],
    ['repl', { ...str('code'), title: 'REPLAction', fields: { code: {}, is_final: {}, final_answer: {} } }],
    ['repl', { absent: ['action_type'], names: 'someone-repl-env.hf.space' }],
    ['coding', { ...str('code'), stateFields: ['episode_id', 'last_exit_code'] }],
    ['julia', str('core_code')],
    ['sumo_rl', int('phase_id')],
    ['chat', { required: ['tokens'], types: { tokens: 'list' }, stateFields: ['history_messages', 'history_tokens'] }],
    ['agent_world_model', { names: 'chilled-agent-world-model-env.hf.space' }],
  ])('%s by %j', (id, given) => expect(findTyped(facts(given))?.id).toBe(id))

  it.each<[string | null, string[], string]>([
    ['echo', ['echo_message'], ''],
    ['echo', ['echo_message', 'echo_with_length'], ''],
    [null, ['echo_message', 'launch'], ''],
    ['finqa', ['get_descriptions', 'get_table_info', 'sql_query', 'submit_answer'], ''],
    ['coding_tools', ['bash', 'read', 'write', 'submit_solution'], ''],
    ['jupyter', ['add_and_execute_code_cell', 'final_answer'], ''],
    ['terminus', ['terminal'], ''],
    ['opencode', ['run_rollout'], ''],
    [null, ['buy', 'sell'], ''],
  ])('%s by its tools %j', (id, names, host) => {
    const tools = names.map((name) => ({ type: 'function' as const, function: { name, description: '', parameters: {} } }))
    expect(findMcp(tools, host)?.id ?? null).toBe(id)
  })

  it('an action that fits nothing is not taken for anything', () => {
    expect(findTyped(facts({ required: ['throttle'] }))).toBeNull()
    // One field of the same name is not enough where the schema is called otherwise.
    for (const [title, field] of [['QueensAction', 'column'], ['SendMailAction', 'to'], ['NimAction', 'move'], ['GuessAction', 'answer'], ['SqlAction', 'query'], ['PyAction', 'code'], ['CatalogueAction', 'to'], ['MazesAction', 'action']] as const) {
      expect(findTyped(facts({ required: [field], title })), title).toBeNull()
    }
    expect(findTyped(facts({ required: [] }))).toBeNull()
    expect(findTyped(facts({ required: ['action_type'], choices: { action_type: ['jump'] } }))).toBeNull()
  })

  it('a field of the same name proves nothing: mail, gardens, 2048, laboratories and shops are not ours', () => {
    const foreign: Partial<ActionFacts>[] = [
      ...['to', 'move', 'query', 'answer', 'code', 'action_str', 'text'].map(str),
      ...['column', 'action_id', 'action', 'tokens', 'move', 'answer', 'code'].map(int),
      { required: ['actions'], types: { actions: 'list' } },
      { required: ['query'], types: { query: 'dict' } },
      { required: ['move'], types: { move: 'list' } },
      { required: ['message'], types: { message: 'list' } },
      { required: ['message'], choices: { message: ['yes', 'no'] } },
      { required: ['to'], choices: { to: ['left', 'right'] } },
      { required: ['action'], choices: { action: ['water', 'plant', 'harvest'] } },
      { required: ['action'], choices: { action: [...UP, 'UNDO'] } },
      { required: ['action'], choices: { action: UP } },
      { required: ['action_type'], choices: { action_type: ['propose', 'evaluate'] } },
      { choices: { action_type: ['go', 'brake', 'emergency_stop'] } },
      { required: ['action_type'], choices: { action_type: ['send_keys', 'swipe'] } },
      { ...int('action_id'), game: 'catch', stateFields: ['game_name'] },
    ]
    for (const each of foreign) expect(findTyped(facts(each))?.id ?? null, JSON.stringify(each)).toBeNull()
    // A game's name in the state of a server that is no TextArena changes no reward.
    expect(findTyped(facts({ ...str('message'), game: 'TwentyQuestions', stateFields: ['game_name'] }))?.id).toBe('message')
  })

  it('what a server tells is stronger than what it is called', () => {
    const snake = 'openenv/snake_env'
    expect(findTyped(facts({ ...str('action'), names: snake }))).toBeNull()
    expect(findTyped(facts({ ...int('action'), names: snake, title: 'PythonAction' }))).toBeNull()
    expect(findTyped(facts({ ...int('column'), names: 'openenv/connect4_env', stateFields: ['episode_id', 'step_count'] }))).toBeNull()
    expect(findTyped(facts({ names: 'someone/carla', absent: ['action_type'] }))).toBeNull()
    expect(findTyped(facts({ ...str('action'), title: 'WildfireAction', fields: { action: {} } }))).toBeNull()
  })
})

/** What an official server told while it was recognised, as e2e/openenv/official.ts wrote it down. */
interface Discovery {
  entry: string
  exchanges: { sent: unknown; received: unknown }[]
  action: unknown
  name: string | null
}
/** The answer to what was not asked when a server's answers were written down. */
const UNASKED = { type: 'error', data: { code: 'EXECUTION_ERROR', message: 'not asked' } }
const OFFICIAL = new URL('../../../../e2e/openenv/transcripts/official/', import.meta.url)
const discoveries = readdirSync(OFFICIAL).filter((file) => file.endsWith('.json')).map((file) => JSON.parse(readFileSync(new URL(file, OFFICIAL), 'utf8')) as Discovery)

describe('official servers', () => {
  const connect = async ({ exchanges, action, name }: Discovery, readable: boolean) => {
    const answers = new Map(exchanges.map(({ sent, received }) => [JSON.stringify(sent), received]))
    const { WebSocket } = fakeServer({ onFrame: (frame, peer) => peer.send(answers.get(JSON.stringify(frame)) ?? UNASKED) })
    const told = (url: string) => (url.endsWith('/schema') ? { action } : url.endsWith('/metadata') ? { name } : null)
    const fetch = (url: unknown) => (readable ? Promise.resolve(Response.json(told(String(url)))) : Promise.reject(new TypeError('Failed to fetch')))
    const environment = new OpenEnvEnvironment('127.0.0.1:1', { WebSocket, fetch, deadlines: { helloMs: 200 } })
    await environment.connect()
    return environment.discovered?.entry
  }

  it.each(discoveries.map((each): [string, Discovery] => [each.entry, each]))('%s is recognised by what its server really said', async (id, each) => {
    expect(await connect(each, true)).toBe(id)
  })

  it('most are recognised over the socket alone, without /schema and /metadata, which no page of another origin can read', async () => {
    const found = await Promise.all(discoveries.map(async (each) => [each.entry, await connect(each, false).catch(() => 'refused')] as const))
    expect(Object.fromEntries(found.filter(([id, seen]) => id !== seen))).toEqual(NEEDS_NAME)
  })
})

/**
 * What is made of the others unless their host's name tells: tools from their fields, or a refusal that names the fields. Where the state would
 * prove it, it was not asked when these were written down.
 */
const NEEDS_NAME = { repl: 'refused', snake: null, sophistry_bench_sprint: null, grid_world: null, reasoning_gym: null, browsergym: null, chess: null, coding: null }

describe('recordings', () => {
  const played: Record<string, { last: string; reward: number | null; turns: number }> = {
    catch: { last: 'height 0, ball c, paddle c', reward: 1, turns: 7 },
    echo: { last: '{"message":"lake","length":4}', reward: null, turns: 2 },
    message: { last: '[8]', reward: 1, turns: 4 },
    'openspiel-catch': { last: 'The ball has landed: caught.', reward: 1, turns: 9 },
    openspiel: { last: '"game_phase":"terminal"', reward: 1, turns: 3 },
    atari: { last: '"screen":"[image 160×210, not shown to a text-only model]"', reward: 0, turns: 36 },
    connect4: { last: '. . . X . . .', reward: 1, turns: 4 },
    chess: { last: 'Result: 1-0', reward: 0.9, turns: 20 },
    grid_world: { last: 'You found the goal!', reward: 0.3, turns: 8 },
    wildfire: { last: 'Burning (column,row): nothing', reward: 1.68, turns: 2 },
    snake: { last: 'The snake is dead.', reward: 0.018, turns: 19 },
    maze: { last: 'You are at column 7, row 7. This is the exit.', reward: 9.35, turns: 14 },
    wordle: { last: '[GAME] [', reward: 1, turns: 4 },
    sudoku: { last: 'R9', reward: 1, turns: 6 },
    textarena: { last: '[GAME]', reward: 2 / 3, turns: 8 },
    reasoning_gym: { last: 'Score: 1', reward: 1, turns: 1 },
    sophistry_bench_sprint: { last: 'Score: {"aggregate_reward":0.78125', reward: 0.78125, turns: 1 },
    coding: { last: 'Import of os is not allowed', reward: -0.7, turns: 5 },
    repl: { last: 'Final answer submitted.', reward: -0.05, turns: 3 },
    finqa: { last: '', reward: 1, turns: 4 },
    dm_control: { last: '"observations"', reward: 19.942, turns: 20 },
    sumo_rl: { last: '"action_mask"', reward: -0.15, turns: 12 },
    browsergym: { last: "[13] button 'Click Me!', focused", reward: 1, turns: 2 },
  }
  const recorded = CATALOGUE.flatMap((entry): [string, Entry, string][] => (entry.recording === null ? [] : [[entry.id, entry, entry.recording]]))

  it.each(recorded)('%s plays again from its frames, to the reward that they hold', async (id, each, path) => {
    const recording = parseRecording(readFileSync(new URL(path, PUBLIC), 'utf8'))
    const { frames } = recording
    expect(recording.entry).toBe(id)
    const official = discoveries.find(({ entry }) => entry === id)
    let at = 0
    let discovering = true
    const { WebSocket } = fakeServer({
      onFrame: (frame, peer) => {
        // Discovery had a session of its own, which is not recorded.
        if (discovering && official === undefined) return peer.send(frame.type === 'mcp' ? noMcp : frame.type === 'state' ? UNASKED : discoveryOf(id, frame.data))
        if (discovering) {
          const reply = official?.exchanges.find(({ sent }) => JSON.stringify(sent) === JSON.stringify(frame))?.received
          return peer.send(reply ?? UNASKED)
        }
        expect({ dir: 'sent', text: JSON.stringify(frame) }).toEqual({ dir: frames[at]?.dir, text: frames[at]?.text })
        for (at++; frames[at]?.dir === 'received'; at++) peer.sendRaw(frames[at]?.text)
      },
    })
    const fetch = (url: unknown) =>
      official !== undefined && String(url).endsWith('/schema') ? Promise.resolve(Response.json({ action: official.action })) : Promise.reject(new TypeError('Failed to fetch'))
    const environment = new OpenEnvEnvironment('127.0.0.1:1', { WebSocket, fetch })
    await environment.connect()
    discovering = false
    expect(environment.discovered).toMatchObject({ entry: id, recording: path, evidence: 'played' })
    const session = await environment.open()
    const seen: Observation[] = [await session.reset({ seed: 3, episode_id: 'sample', split: 'train' })]
    const shown = recordedEpisode(recording, each)
    for (const { call } of shown.turns) seen.push(await session.step(call))
    await session.close()
    expect(at).toBe(frames.length)
    const rewards = seen.slice(1).map((observation) => observation.reward)
    // The panel reads of the frames what the session does.
    expect(shown.turns.map(({ observation }) => observation)).toEqual(seen.slice(1))
    expect(shown.reward).toBe(environment.episodeReward(rewards))
    const { last, reward, turns } = played[id] as (typeof played)[string]
    expect(seen.at(-1)?.text).toContain(last)
    expect([shown.reward, shown.turns.length]).toEqual([reward === null ? null : expect.closeTo(reward), turns])
  })

  it('a damaged one is refused in words', () => {
    expect(() => parseRecording('{')).toThrow('not JSON')
    expect(() => parseRecording('{"format":"openenv-recording","version":2}')).toThrow('its version is not')
  })
})

/** The refusals by which a typed server of ours is recognised. */
function discoveryOf(id: string, given: Record<string, unknown> = {}): unknown {
  const required = entryOf(id)?.required?.split(',') ?? []
  const refusal = (field: string) =>
    field in given ? { type: 'literal_error', loc: [field], msg: '', ctx: { expected: "'left', 'stay' or 'right'" } } : { type: 'missing', loc: [field], msg: '' }
  const errors = required.filter((field) => !(field in given) || id === 'catch').map(refusal)
  return { type: 'error', data: { code: 'VALIDATION_ERROR', message: '', errors } }
}
