/** A rollout function in a run of several environments: each prompt is shown the tools of its own. */

import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../core/environment'
import type { Tool } from '../../core/tools'
import { OWN_LOOP } from '../../env/custom/examples'
import type { Asked, LiveAnswer } from '../../env/custom/live-client'
import { rollout } from '../rollout'
import { FakeEnvironment } from '../testing/fake-environment'
import { chat, prepare, say } from '../testing/setup'
import { customRollout } from './custom-rollout'
import { commonTools } from './prompt-tools'

const toolOf = (name: string): Tool => ({ type: 'function', function: { name, description: `Do ${name}.`, parameters: { type: 'object', properties: { word: { type: 'string', description: 'A word.' } }, required: ['word'] } } })

/** Two environments in turn; each sort of seed has its own. */
function mixed(secondTool = 'move') {
  const members = ['say', secondTool].map((name, i) => Object.assign(new FakeEnvironment(), { name: `env${i}`, tools: [toolOf(name)], prompts: { system: '', user: `Play ${i}.\n` } }))
  const [first, second] = members as [FakeEnvironment, FakeEnvironment]
  const made = prepare({ reply: (turn) => (turn === 0 ? say('end') : ['done', 'over']), slots: 4, request: { groupSeeds: [7, 8], num_generations: 2 } })
  const environment: Environment = {
    ...environmentOf(first),
    name: 'env0 + env1',
    members,
    assign: ({ seed }) => ({ environment: seed % 2 === 1 ? first : second, messages: [{ role: 'user', content: `Play ${seed}.\n` }] }),
  }
  made.request.environment = environment
  return made
}

const environmentOf = (one: FakeEnvironment): Environment => ({
  name: one.name, tools: one.tools, maxSessions: one.maxSessions, prompts: one.prompts,
  connect: () => one.connect(), open: () => one.open(), episodeReward: (rewards) => one.episodeReward(rewards), isSuccess: (reward) => one.isSuccess(reward), close: () => one.close(),
})

interface Facts {
  tools: readonly Tool[] | null
  rows: { tools: readonly Tool[] }[]
}
type Func = (prompts: unknown[], facts: Facts, ask: Asked) => unknown

const run = (func: Func, { request } = mixed()) =>
  customRollout({ called: 'rollout_func', code: '' }, () => ({
    live: (_role, _func, onAsk) => ({
      call: async (message): Promise<LiveAnswer> => {
        try {
          const value = await func(message['prompts'] as unknown[], message['facts'] as Facts, onAsk as Asked)
          return { id: 1, value: JSON.parse(JSON.stringify(value ?? null)) as unknown }
        } catch (error) {
          return { id: 1, error: (error as Error).message }
        }
      },
      end: () => undefined,
    }),
  }))(request)

/** The example, with a trainer that asks as the sandbox's does. */
const example: Func = (prompts, facts, ask) => {
  const open = async (row: number) => {
    const session = await ask('open', [row])
    return { reset: () => ask('reset', [session]), step: (name: string, args: unknown) => ask('step', [session, { name, arguments: args }]) }
  }
  const trainer = {
    ...facts,
    generate: (...args: unknown[]) => ask('generate', args),
    apply_chat_template: (messages: unknown, options: unknown) => ask('apply_chat_template', [[messages], options]).then((all) => (all as unknown[])[0]),
    parse_tool_calls: (text: unknown) => ask('parse_tool_calls', [text]),
    tool_suffix: (results: unknown) => ask('tool_suffix', [results]),
    environment: { open },
  }
  return (runInNewContext(`${OWN_LOOP.code}\nrollout_func`) as (prompts: unknown[], trainer: object) => unknown)(prompts, trainer)
}

describe('a rollout function of several environments', () => {
  it('as the page shows it plays the page’s own episodes, each prompt with its own environment’s tools', async () => {
    const page = mixed()
    const expected = await rollout(page.request)
    const got = await run(example)
    expect(got.map(({ ids }) => chat.text(ids))).toEqual(expected.map(({ ids }) => chat.text(ids)))
    expect(got.map(({ mask }) => mask)).toEqual(expected.map(({ mask }) => mask))
    expect(got.map(({ ids }) => [chat.text(ids).includes('Do say.'), chat.text(ids).includes('Do move.')])).toEqual([[true, false], [true, false], [false, true], [false, true]])
  })

  it('is told each prompt’s tools, and is refused a conversation of which nobody says whose it is', async () => {
    const seen: unknown[] = []
    const told = (answer: unknown): void => void seen.push(answer instanceof Error ? answer.message : (answer as number[][]).map((ids) => /Do \w+/.exec(chat.text(ids))?.[0] ?? null)[0])
    await expect(
      run(async (prompts, { tools, rows }, ask) => {
        seen.push(tools, rows.map((row) => row.tools.map((tool) => tool.function.name).join()))
        for (const options of [{ row: 0 }, { row: 2 }, { tools: rows[2]?.tools }, { tools: null }, {}, { row: 9 }, { tools: [7] }]) {
          await ask('apply_chat_template', [[prompts[0]], options]).then(told, told)
        }
      }),
    ).rejects.toThrow('returned nothing')
    expect(seen).toEqual([
      null,
      ['say', 'say', 'move', 'move'],
      'Do say',
      'Do move',
      'Do move',
      null,
      expect.stringContaining('different tools: say for which prompt trainer.apply_chat_template(messages, { row }) is to be') as string,
      expect.stringContaining('There is no prompt 9') as string,
      expect.stringContaining('is a list of tools') as string,
    ])
  })

  it('need not say so where all have the same tools', () => {
    expect(commonTools(mixed('say').request.environment)?.map((tool) => tool.function.name)).toEqual(['say'])
    expect(commonTools(mixed().request.environment)).toBeNull()
  })
})
