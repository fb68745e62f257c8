/** The Python environment of a folder for TRL is the page's: texts, refusals, what is sent for a call, and rewards. */

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { RunConfig } from '../../src/core/config'
import type { DiscoveredEnvironment } from '../../src/core/discovered'
import type { Environment } from '../../src/core/environment'
import { RandomStream } from '../../src/core/random'
import { applyToolEdits, type ToolEdit } from '../../src/core/tool-edits'
import { checkToolCall } from '../../src/core/tool-schema'
import type { Tool } from '../../src/core/tools'
import { BUILTIN_NAMES, builtinEnvironment, type BuiltinName } from '../../src/env/builtin'
import { CATALOGUE, entryOf, type Entry } from '../../src/env/openenv/catalogue'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { parseServerFrame } from '../../src/env/openenv/protocol'
import { readObservation } from '../../src/env/openenv/reading'
import { discoveredTool, mcpTool, planCall } from '../../src/env/openenv/typed-tools'
import { withToolEdits } from '../../src/env/tool-edits'
import { trlFolder } from '../../src/hub/trl'
import { groupSeeds } from '../../src/train/seeds'
import { startServers, type RunningServer } from '../openenv/server'
import { REFERENCE } from './reference'
import { ask, comparable, playEpisode, randomCall, type Answer, type Job, type PlayedEpisode } from './trl-episodes'
import { FRAMES, type RawFrame } from './trl-frames'
import { recordOf, writeFolder } from './trl-run'

const ODD = 'é """ \\n \\ \' {x} %s\n\t# $(rm) `ls` 🙂 \u202e \u0000 \u2028 end"'

function exported(name: string, id: BuiltinName, environment: Environment, change: Partial<RunConfig> = {}, server?: string): string {
  const folder = join(REFERENCE, 'trl-environment', name)
  const adapter = ['adapter_config.json', 'adapter_model.safetensors'].map((path) => ({ path, content: '' }))
  const run = recordOf(id, environment, change)
  writeFolder(folder, trlFolder({ run, history: [], adapter, base: [{ path: 'config.json', content: '{}' }], ...(server === undefined ? {} : { server }) }))
  return folder
}

async function randomEpisodes(environment: Environment, count: number, split: 'train' | 'heldout' = 'train', turns = 8): Promise<PlayedEpisode[]> {
  const episodes: PlayedEpisode[] = []
  for (let seed = 0; seed < count; seed++) {
    const random = new RandomStream(seed, 77)
    episodes.push(await playEpisode(environment, seed * 7919, split, turns, () => randomCall(environment.tools, random)))
  }
  expect(new Set(episodes.map(({ reward }) => reward)).size).toBeGreaterThan(1)
  expect(episodes.some(({ results }) => results.some((result) => result.startsWith('Error: ')))).toBe(true)
  return episodes
}

const EDITS: Record<BuiltinName, ToolEdit[]> = {
  lane: [
    { kind: 'rename', tool: 'observe', name: 'look-around' },
    { kind: 'describe', tool: 'lane_change', description: ODD },
    { kind: 'restrict', tool: 'lane_change', parameter: 'direction', enum: ['left'] },
  ],
  catch: [{ kind: 'rename', tool: 'move', name: 'class' }],
  echo: [{ kind: 'rename', tool: 'echo_message', name: 'get_reward' }],
  guess: [{ kind: 'rename', tool: 'guess', name: 'def' }],
}

it('built-in games: the same texts, refusals and rewards, with and without changed tools, for hundreds of seeds', async () => {
  const jobs: (Job & { environment: Environment; played: PlayedEpisode[] })[] = []
  for (const id of BUILTIN_NAMES) {
    const environment = builtinEnvironment(id)
    const folder = exported(id, id, environment)
    for (const split of ['train', 'heldout'] as const) {
      const played = await randomEpisodes(environment, 400, split)
      jobs.push({ folder, environment, played, episodes: played, split, seeds: [42, 4, 8] })
    }
    const edited = withToolEdits(environment, EDITS[id])
    const played = await randomEpisodes(edited, 150)
    const prompts = { system_prompt: ODD, user_prompt: `${ODD}'''` }
    jobs.push({ folder: exported(`${id}-edited`, id, edited, { tool_edits: EDITS[id], ...prompts }), environment: edited, played, episodes: played, seeds: [42, 4, 8] })
  }
  const answers = ask(jobs.map(({ environment: _, played: __, ...job }) => job))
  jobs.forEach(({ environment, played, split }, i) => {
    const answer = answers[i] as Answer
    expect(answer.episodes.map(comparable)).toEqual(played.map(comparable))
    expect(answer.tools).toEqual(environment.tools)
    expect(answer.seeds).toEqual(groupSeeds(42, 4, 8))
    if (split === undefined) expect(answer.prompts).toEqual([ODD, `${ODD}'''`])
  })
})

/** What discovery would find at a server of a kind. */
function foundOf(entry: Entry, tools = entry.tools.map(discoveredTool)): DiscoveredEnvironment {
  const { id, title, evidence, family, prompts, observation, reward, resetData, stepSeconds, quirks, needs, notes, recording, sessions } = entry
  const known = { title, evidence, family, prompts, observation, reward, resetData, quirks, needs, notes, recording }
  return { host: 'h', entry: id, recognised: '', ...known, ...(stepSeconds === undefined ? {} : { stepSeconds }), tools, defaultSessions: sessions }
}

const ANY_TOOL: Tool = {
  type: 'function',
  function: {
    name: 'any-thing',
    description: '',
    parameters: {
      type: 'object',
      properties: {
        from: { type: 'string', description: ODD, minLength: 1 },
        count: { type: 'integer', minimum: 1, maximum: 5 },
        maybe: { type: 'number', nullable: true, default: 1 },
        several: { type: 'array', items: { type: 'integer' } },
      },
      required: ['from', 'several'],
    },
  },
}

describe('OpenEnv servers of every kind in the catalogue', () => {
  const typed = CATALOGUE.filter(({ tools }) => tools.length > 0)
  const mcp = foundOf(CATALOGUE.find(({ family }) => family === 'mcp') as Entry, [mcpTool(ANY_TOOL), mcpTool({ ...ANY_TOOL, function: { ...ANY_TOOL.function, name: 'reset', parameters: { type: 'object' } } })])
  const cases: [string, DiscoveredEnvironment][] = [...typed.map((entry): [string, DiscoveredEnvironment] => [entry.id, foundOf(entry)]), ['mcp', mcp]]
  const folderOf = (name: string, found: DiscoveredEnvironment, edits: ToolEdit[] = []) => {
    const tools = applyToolEdits(found, edits).tools.map(({ tool }) => tool)
    const environment = { name, tools, prompts: found.prompts, discovered: found } as unknown as Environment
    return exported(`kind-${name}`, 'catch', environment, { environment: { kind: 'openenv', url: 'h' }, tool_edits: edits }, 'http://h')
  }

  it('sends the same for the same calls, and refuses the same', () => {
    const asked = cases.map(([name, found]) => {
      const tools = found.tools.map(({ tool }) => tool)
      const random = new RandomStream(5, name.length)
      return { name, found, tools, plans: Array.from({ length: 40 }, () => randomCall(tools, random)) }
    })
    const answers = ask(asked.map(({ name, found, plans }) => ({ folder: folderOf(name, found), plans, schemas: true })))
    asked.forEach(({ name, found, tools, plans }, i) => {
      const answer = answers[i] as Answer
      const ours = plans.map((call) => {
        const wrong = checkToolCall(call, tools)
        if (wrong !== null) return `Error: ${wrong}`
        const plan = planCall(found, call)
        if (plan.kind === 'refused') return plan.text
        return { action: plan.action, then: plan.then?.action ?? null, times: plan.then?.times ?? 0 }
      })
      expect(answer.plans, name).toEqual(JSON.parse(JSON.stringify(ours)))
      expect(answer.tools, name).toEqual(tools)
      // Also what TRL would make of the methods alone names the same tools and parameters.
      for (const { function: own } of tools) {
        const described = answer.methods[own.name]
        if (own.parameters.properties === undefined || Object.keys(own.parameters.properties).includes('from')) continue
        if (typeof described !== 'object') throw new Error(`${name}.${own.name}: ${described}`)
        expect(described.function.description, name).toBe(own.description || 'Not described.')
        expect(described.function.parameters.required ?? [], name).toEqual(own.parameters.required ?? [])
        for (const [key, { type, enum: values }] of Object.entries(own.parameters.properties)) {
          const made = described.function.parameters.properties?.[key]
          expect([made?.type, made?.enum], `${name}.${own.name}.${key}`).toEqual([type, values])
        }
      }
    })
  })

  it('reads the same text, reward and end from the same frames', () => {
    const kinds: [string, DiscoveredEnvironment, Entry | null][] = [
      ...typed.filter(({ text, quirks }) => text !== undefined || quirks.some(({ kind }) => kind === 'invalid-move')).map((entry): [string, DiscoveredEnvironment, Entry] => [entry.id, foundOf(entry), entry]),
      ['mcp', { ...mcp, entry: null }, null],
    ]
    const answers = ask(kinds.map(([name, found]) => ({ folder: folderOf(name, found), readings: FRAMES.map((frames) => frames.map(({ raw, said }) => ({ data: raw, said }))) })))
    kinds.forEach(([name, found, entry], i) => {
      expect(entryOf(found.entry)?.id ?? null).toBe(entry?.id ?? null)
      FRAMES.forEach((frames, at) => {
        expect((answers[i] as Answer).readings[at], `${name}: ${JSON.stringify(frames).slice(0, 300)}`).toEqual(pageReading(frames, found, entry))
      })
    })
  })
})

/** As the page's session reads an episode's frames; where it cannot, any sentence stands for the failure. */
function pageReading(frames: readonly RawFrame[], found: DiscoveredEnvironment, entry: Entry | null): unknown[] {
  let seen = ''
  return frames.map(({ raw, said }) => {
    const sent = parseServerFrame(`{"type": "observation", "data": ${raw}}`)
    if (sent.kind !== 'observation') return expect.any(String) as unknown
    const reading = readObservation(sent, { found, entry, seen, start: '', said })
    seen = reading.seen
    const { text, reward, done, toolError } = reading.observation
    return { text, reward, done, toolError }
  })
}

describe('real OpenEnv servers', () => {
  const NAMES = ['catch', 'echo', 'misbehave'] as const
  let servers: RunningServer[] = []
  beforeAll(async () => {
    servers = await startServers(NAMES)
  })
  afterAll(() => servers[0]?.kill())

  it('the same texts, refusals and rewards by the openenv client', async () => {
    const jobs: Job[] = []
    const expected: { played: PlayedEpisode[]; tools: readonly Tool[] }[] = []
    for (const [i, name] of (['catch', 'echo'] as const).entries()) {
      const { url, port } = servers[i] as RunningServer
      const environment = new OpenEnvEnvironment(url, { WebSocket })
      await environment.connect()
      const played = await randomEpisodes(environment, 24)
      const folder = exported(`server-${name}`, name, environment, { environment: { kind: 'openenv', url } }, `http://127.0.0.1:${port}`)
      jobs.push({ folder, episodes: played })
      expected.push({ played, tools: environment.tools })
      await environment.close()
    }
    ask(jobs).forEach((answer, i) => {
      expect(answer.episodes.map(comparable)).toEqual(expected[i]?.played.map(comparable))
      expect(answer.tools).toEqual(expected[i]?.tools)
    })
  })

  it('an environment that fails leaves its episode without a reward, and the next one is played', async () => {
    const { url, port } = servers[2] as RunningServer
    const environment = new OpenEnvEnvironment(url, { WebSocket })
    await environment.connect()
    const { tools } = environment
    await environment.close()
    const [tool] = tools
    const say = (message: string) => ({ name: tool?.function.name ?? '', arguments: { message } })
    const plays = [['one', '!done'], ['one', '!raise', 'two'], ['bad'], ['one'], ['!nan'], []].map((said, seed) => ({ seed, calls: said.map(say), start: '', results: [], reward: null, over: false }))
    const folder = exported('server-misbehave', 'catch', environment, { environment: { kind: 'openenv', url } }, `http://127.0.0.1:${port}`)
    const [answer] = ask([{ folder, episodes: plays }])
    // An answer without a reward is not 0; a model that called nothing has earned 0.
    expect(answer?.episodes.map(({ reward }) => reward)).toEqual([1, null, null, 0.5, null, 0])
    expect(answer?.episodes.map(({ failure }) => failure !== null)).toEqual([false, true, true, false, false, false])
    expect(answer?.episodes[1]?.failure).toContain('asked to fail')
    expect(answer?.episodes[1]?.results).toEqual(['ONE', 'The episode is over.', 'The episode is over.'])
  })
})
