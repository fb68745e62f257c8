import { describe, expect, it } from 'vitest'
import type { Environment, ResetOptions } from '../core/environment'
import { PlaygroundError } from '../core/errors'
import { builtinEnvironment } from './builtin/index'
import { mixEnvironment, type MixPart } from './mix'
import type { SourceRows } from './prompts/environment'
import { wrapped } from './wrapped'

const part = (environment: Environment, more: Partial<MixPart> = {}): MixPart => ({ name: environment.name, environment, weight: 1, system_prompt: '', user_prompt: '', room: 64, ...more })
const lane = () => builtinEnvironment('lane')
const catchBall = () => builtinEnvironment('catch')
const rows = (...all: Record<string, unknown>[]): SourceRows => ({ rows: all.map((row, i) => ({ place: `row ${i + 1}`, row })), heldout: null, problems: [], more: false })
const dataset = (source: SourceRows) => ({ name: 'mine', seed: 3, read: () => Promise.resolve(source) })
const draw = (prompt: number) => ({ seed: 1000 + prompt, split: 'train' as const, prompt })

async function connected(...args: Parameters<typeof mixEnvironment>): Promise<Environment & Required<Pick<Environment, 'assign'>>> {
  const made = mixEnvironment(...args)
  await made.connect()
  return made as Environment & Required<Pick<Environment, 'assign'>>
}

describe('several environments as one', () => {
  it('gives prompts to its members by weight, each with its own tools and prompts', async () => {
    const mix = await connected({ parts: [part(lane(), { weight: 3 }), part(catchBall(), { system_prompt: 'Catch it.' })], edits: [], dataset: null })
    const groups = Array.from({ length: 8 }, (_, i) => mix.assign(draw(i)))
    expect(groups.map(({ environment }) => environment.name)).toEqual(['lane', 'lane', 'catch', 'lane', 'lane', 'lane', 'catch', 'lane'])
    expect(groups[2]?.messages).toEqual([
      { role: 'system', content: 'Catch it.' },
      { role: 'user', content: catchBall().prompts.user },
    ])
    expect(groups[0]?.messages?.[0]?.content).toBe(lane().prompts.system)
    expect(mix.name).toBe('lane + catch')
    expect(mix.members?.map(({ tools }) => tools.map((tool) => tool.function.name))).toEqual([lane(), catchBall()].map(({ tools }) => tools.map((tool) => tool.function.name)))
    expect([mix.heldOut, mix.maxSessions]).toEqual([true, Infinity])
  })

  it('a prompt out of the order is drawn by its seed, the same each time', async () => {
    const mix = await connected({ parts: [part(lane()), part(catchBall())], edits: [], dataset: null })
    const names = (from: number) => Array.from({ length: 40 }, (_, i) => mix.assign({ seed: from + i, split: 'train' }).environment.name)
    expect(names(5)).toEqual(names(5))
    expect(new Set(names(5)).size).toBe(2)
  })

  it('a dataset’s column chooses, with the row’s prompt and columns; reset does not see the column', async () => {
    const seen: ResetOptions[] = []
    const watched = wrapped(catchBall(), {
      open: async () => {
        const session = await catchBall().open()
        return wrapped(session, { reset: (options) => (seen.push(options), session.reset(options)) })
      },
    })
    const mix = await connected({
      parts: [part(lane()), part(watched, { name: 'https://catch.example', system_prompt: 'Catch it.' })],
      edits: [],
      dataset: dataset(rows({ prompt: 'a', environment: 'catch', level: 1 }, { prompt: 'b', environment: 'lane' }, { prompt: 'c', environment: 'https://catch.example' })),
    })
    const groups = [0, 1, 2].map((i) => mix.assign(draw(i)))
    const byPrompt = Object.fromEntries(groups.map(({ messages, environment, columns }) => [messages?.at(-1)?.content, [environment.name, columns]]))
    expect(byPrompt).toEqual({ a: ['catch', { environment: 'catch', level: 1 }], b: ['lane', { environment: 'lane' }], c: ['catch', { environment: 'https://catch.example' }] })
    const a = groups.find(({ columns }) => columns?.['level'] === 1)
    expect(a?.messages?.[0]).toEqual({ role: 'system', content: 'Catch it.' })
    const session = await a?.environment.open()
    await session?.reset({ seed: 1, episode_id: 'x', split: 'train', ...(a?.columns && { columns: a.columns }) })
    expect(seen[0]?.columns).toEqual({ level: 1 })
  })

  it('rows that name nobody are left out and told, with the row', async () => {
    const source = rows({ prompt: 'a', environment: 'lane' }, { prompt: 'b', environment: 'chess' }, { prompt: 'c' })
    const mix = await connected({ parts: [part(lane()), part(catchBall())], edits: [], dataset: dataset(source) })
    expect(mix.remarks?.join(' ')).toContain('Row 2')
    expect(mix.remarks?.join(' ')).toContain('There is no environment "chess" in this run')
    expect(mix.remarks?.join(' ')).toContain('Other rows choose an environment, this one does not')
    expect([0, 1, 2].map((i) => mix.assign(draw(i)).messages?.at(-1)?.content)).toEqual(['a', 'a', 'a'])
    const nobody = connected({ parts: [part(lane())], edits: [], dataset: dataset(rows({ prompt: 'b', environment: 'chess' })) })
    await expect(nobody).rejects.toThrow('No row of mine can be used as a prompt')
  })

  it('rows without the column are shared out by weight; one environment reads all', async () => {
    const source = rows({ prompt: 'a', level: 1 }, { prompt: 'b', level: 2 })
    const both = await connected({ parts: [part(lane()), part(catchBall())], edits: [], dataset: dataset(source) })
    expect([0, 1, 2, 3].map((i) => both.assign(draw(i)).environment.name)).toEqual(['lane', 'catch', 'lane', 'catch'])
    const one = await connected({ parts: [part(lane())], edits: [], dataset: dataset(source) })
    expect([0, 1].map((i) => one.assign(draw(i)).columns?.['level']).sort()).toEqual([1, 2])
    expect([one.name, one.dataset?.rows]).toEqual(['lane', 2])
  })

  it('names the member that cannot be used, and closes the others', async () => {
    const closed: string[] = []
    const good = wrapped(lane(), { close: async () => void closed.push('lane') })
    const bad = wrapped(catchBall(), { connect: () => Promise.reject(new PlaygroundError('environment', 'It does not answer.', 'Start it.')) })
    const made = mixEnvironment({ parts: [part(good), part(bad, { name: 'ws://nobody:1' })], edits: [], dataset: null })
    await expect(made.connect()).rejects.toThrow('One of the environments of this run, ws://nobody:1, cannot be used: It does not answer.')
    expect(closed).toEqual(['lane'])
  })

  it('edits a tool wherever it is, and refuses one that nobody has', async () => {
    const [tool] = lane().tools.map(({ function: { name } }) => name)
    const edit = { kind: 'rename' as const, tool: tool ?? '', name: 'steer' }
    const mix = await connected({ parts: [part(lane()), part(lane()), part(catchBall())], edits: [edit], dataset: null })
    expect(mix.members?.map(({ name, tools }) => [name, tools[0]?.function.name])).toEqual([
      ['lane', 'steer'],
      ['lane_2', 'steer'],
      ['catch', catchBall().tools[0]?.function.name],
    ])
    await expect(connected({ parts: [part(lane())], edits: [{ ...edit, tool: 'fly' }], dataset: null })).rejects.toThrow('has the tool "fly" that was edited')
  })

  it('measures prompts with each member’s own tools', async () => {
    const mix = await connected({ parts: [part(lane()), part(catchBall(), { room: 500 })], edits: [], dataset: null })
    expect(mix.fit?.((messages, tools = []) => messages.length + 10 * tools.length, 1000)).toBe(2 + 10 * catchBall().tools.length + 500)
  })
})
