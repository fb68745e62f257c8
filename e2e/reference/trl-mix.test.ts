/** The real TRL trains in several environments from an exported folder: the page's prompts in the page's order, and each function where it judges. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { GrpoConfig } from '../../src/core/config'
import type { Environment } from '../../src/core/environment'
import { evaluationSeed } from '../../src/core/evaluation'
import type { EnvironmentSpec, MixMember } from '../../src/core/environment-spec'
import type { ChatMessage } from '../../src/core/tools'
import { builtinEnvironment } from '../../src/env/builtin'
import { arithmeticRows } from '../../src/env/prompts/arithmetic'
import { RoundRobin } from '../../src/env/round-robin'
import { peftAdapterFiles } from '../../src/hub/peft-writer'
import { trlFolder } from '../../src/hub/trl'
import { groupSeeds } from '../../src/train/seeds'
import { makeEnvironment } from '../../src/worker/make-environment'
import { tinyEngine } from '../integration/grpo-run'
import { venvPython } from '../tools/venv'
import { REFERENCE } from './reference'
import { completions, logs, recordOf, tinyModelFiles, trainInTrl, writeFolder } from './trl-run'

const SEED = 7
const member = (environment: MixMember['environment'], weight = 1, system_prompt = ''): MixMember => ({ environment, weight, system_prompt, user_prompt: '' })
const LANE = { kind: 'builtin', name: 'lane' } as const
const CATCH = { kind: 'builtin', name: 'catch' } as const
const SUMS = { kind: 'prompts', dataset: { kind: 'builtin', name: 'arithmetic' } } as const
const PLAIN = { kind: 'text', name: 'plain.jsonl', text: rowsText(false) } as const
const FEW = { kind: 'text', name: 'few.jsonl', text: rowsText(false).split('\n').slice(0, 9).join('\n') } as const
const CHOOSING = { kind: 'text', name: 'choosing.jsonl', text: rowsText(true) } as const

/** 60 rows, some held out; where they choose, each names its environment, by its name or as it was chosen, and a few name none that is there. */
function rowsText(chooses: boolean): string {
  return Array.from({ length: 60 }, (_, i) => JSON.stringify({ prompt: `Row ${i} "é"`, ...(chooses && { environment: ['lane', 'catch', 'lane_2', 'chess'][i % (i < 56 ? 3 : 4)] }), ...(i % 2 === 0 && { solution: String(i) }) })).join('\n')
}

/** A folder of such a run, as it is taken away after its third step, and the run's environment. */
async function exported(name: string, spec: EnvironmentSpec, grpo: Partial<GrpoConfig> = {}, real = false) {
  const environment = makeEnvironment(spec, { seed: SEED })
  await environment.connect()
  const change = { environment: spec, system_prompt: '', user_prompt: '' }
  const run = recordOf('catch', environment, change, { seed: SEED, num_generations: 4, prompts_per_step: 4, max_completion_length: 120, max_tool_calling_iterations: 2, ...grpo })
  const folder = join(REFERENCE, 'trl-mix', name)
  const adapter = real ? peftAdapterFiles({ lora: run.config.lora, tensors: await fresh(run.config), baseModel: run.config.model, revision: null }) : [{ path: 'adapter_config.json', content: '' }]
  const base = real ? tinyModelFiles() : [{ path: 'config.json', content: '{}' }]
  writeFolder(folder, trlFolder({ run, history: [], adapter, base, rows: { train: arithmeticRows('train'), heldout: arithmeticRows('heldout') } }))
  return { folder, environment, run }
}

async function fresh(config: Parameters<typeof tinyEngine>[0]) {
  const engine = await tinyEngine(config)
  try {
    return await engine.exportParameters()
  } finally {
    await engine.dispose()
  }
}

interface Group {
  prompt: ChatMessage[]
  environment: string
  seed: number
  split?: string
  solution?: string | null
}

/** What the folder's Python says to an expression, with its main's own lines before it. */
function inFolder<T>(folder: string, expression: string): T {
  const script = `
import ast, json, pathlib, sys
folder = pathlib.Path(sys.argv[1]); sys.path.insert(0, str(folder))
import argparse
args = argparse.Namespace(folder=folder, steps=50, environment_url=[])
scope = {"args": args, "folder": folder, "sys": sys, "STEPS_DONE": 3, "SEED": ${SEED}, "PROMPTS_PER_STEP": 4, "MAX_COMPLETION_LENGTH": 1, "Dataset": argparse.Namespace(from_list=list)}
train = ast.parse((folder / "train.py").read_text())
main = next(each for each in train.body if getattr(each, "name", "") == "main")
main.body = [each for each in train.body if isinstance(each, ast.Assign) and each.targets[0].id.startswith("EVAL_")] + main.body
wanted = ("own", "chosen", "prompts", "steps", "groups", "eval_dataset", "EVAL_EPISODES", "EVAL_SEEDS")
def keeps(line): return isinstance(line, ast.ImportFrom) and line.module not in ("datasets", "limits") or isinstance(line, ast.Assign) and getattr(line.targets[0], 'id', '') in wanted
exec(compile(ast.Module([line for line in main.body if keeps(line)], []), "main", "exec"), scope)
scope["scope"] = scope
print(json.dumps(eval(sys.argv[2], scope)))`
  return JSON.parse(execFileSync(venvPython('reference'), ['-c', script, folder, expression], { encoding: 'utf8', maxBuffer: 2 ** 26 })) as T
}

/** The same groups on the page, from the environment itself. */
function ours(environment: Environment, seeds: readonly number[], first: number, split: 'train' | 'heldout'): Group[] {
  return seeds.map((seed, i) => {
    const { environment: played, messages = [], columns } = environment.assign?.({ seed, split, prompt: first + i }) ?? { environment }
    const solution = columns?.['solution']
    return { prompt: messages.map(({ role, content }) => ({ role, content })), environment: played.name, seed, ...(typeof solution === 'string' && { solution }) }
  })
}

const plain = ({ prompt, environment, seed, solution }: Group) => ({ prompt: prompt.map(({ role, content }) => [role, content]), environment, seed, solution: solution ?? null })

it('shares prompts out as the page does, for any weights', async () => {
  const { folder } = await exported('turns', { kind: 'mix', members: [member(LANE), member(CATCH)], dataset: null })
  for (const weights of [[2, 1], [1, 1, 1], [5, 3, 2, 7], [0.1, 0.7, 0.2], [1e-6, 3], [0.3]]) {
    const page = new RoundRobin(weights)
    const theirs = inFolder<[number, number][]>(folder, `[__import__("round_robin").RoundRobin(${JSON.stringify(weights)}).turn(i) for i in range(300)]`)
    expect(theirs.map(([at, rank]) => ({ member: at, rank }))).toEqual(theirs.map((_, i) => page.turn(i)))
  }
})

it.each<[string, EnvironmentSpec]>([
  ['games and sums by weight, of one game two', { kind: 'mix', members: [member(LANE, 2), member(CATCH), member(SUMS, 1, 'In a box.'), member(LANE, 0.5, 'Drive.')], dataset: null }],
  ['rows without a column, by weight', { kind: 'mix', members: [member(LANE, 2), member({ kind: 'prompts', dataset: CHOOSING })], dataset: PLAIN }],
  ['rows that choose', { kind: 'mix', members: [member(LANE), member(CATCH), member(LANE, 1, 'Second.')], dataset: CHOOSING }],
  ['one environment with rows', { kind: 'mix', members: [member(CATCH)], dataset: PLAIN }],
  ['few rows, none held out', { kind: 'mix', members: [member({ kind: 'prompts', dataset: CHOOSING }), member(LANE)], dataset: FEW }],
])('begins every group as the page does, in training and in evaluations: %s', async (name, spec) => {
  const { folder, environment } = await exported(name.replaceAll(/\W+/g, '-'), spec, { eval_strategy: 'steps', eval_episodes: 40 })
  const groups = inFolder<Group[]>(folder, 'groups')
  expect(groups).toHaveLength(200)
  const page = Array.from({ length: 50 }, (_, i) => ours(environment, groupSeeds(SEED, 4 + i, 4), 4 * (3 + i), 'train')).flat()
  expect(groups.map(plain)).toEqual(page.map(plain))
  const split = inFolder<'train' | 'heldout'>(folder, 'prompts.split')
  expect(split).toBe(environment.heldOut ? 'heldout' : 'train')
  // Of a dataset each row once.
  const { rows = 40, heldOut = 0 } = environment.dataset ?? {}
  const evaluated = inFolder<Group[]>(folder, 'eval_dataset')
  const seeds = groupSeeds(evaluationSeed(split), 0, Math.min(40, split === 'heldout' && heldOut > 0 ? heldOut : rows))
  expect(evaluated.map(plain)).toEqual(ours(environment, seeds, 0, split).map(plain))
  expect(new Set(evaluated.map((each) => each.split))).toEqual(new Set([split === 'heldout' ? 'heldout' : undefined]))
})

it('has members of every kind, servers under addresses of their own, and says what of a class is to be written', () => {
  const { tools, prompts } = builtinEnvironment('lane')
  const members = [member(LANE), member({ kind: 'openenv', url: 'http://localhost:1' }), member({ kind: 'custom', called: 'Shop', code: 'class Shop {}' }), member(SUMS)]
  const facts = ['lane', 'a = b', 'Shop', 'arithmetic'].map((name) => ({ name, tools: name === 'arithmetic' ? [] : [...tools], prompts, maxSessions: null }))
  const run = recordOf('lane', builtinEnvironment('lane'), { environment: { kind: 'mix', members, dataset: null } })
  const folder = join(REFERENCE, 'trl-mix', 'kinds')
  const rows = { train: arithmeticRows('train'), heldout: arithmeticRows('heldout') }
  writeFolder(folder, trlFolder({ run: { ...run, environment: { ...run.environment, members: facts } }, history: [], adapter: [{ path: 'adapter_config.json', content: '' }], base: [{ path: 'config.json', content: '{}' }], rows }))
  execFileSync(venvPython('reference'), ['-m', 'compileall', '-q', folder])
  expect(inFolder(folder, '[member.name for member in MEMBERS]')).toEqual(['lane', 'a = b', 'Shop', 'arithmetic'])
  expect(inFolder(folder, '[getattr(member.kind, "_url", None) for member in MEMBERS]')).toEqual([null, 'http://localhost:1', null, null])
  const lines = readFileSync(join(folder, 'train.py'), 'utf8').split('\n')
  const at = lines.findIndex((line) => line.includes('addressed = '))
  const addressed = lines.slice(at, at + 6).map((line) => line.slice(4)).join('\n')
  expect(inFolder(folder, `(setattr(args, "environment_url", ["a = b=http://h:2"]), exec(${JSON.stringify(addressed)}, globals() | scope), MEMBERS[1].kind._url)[2]`)).toBe('http://h:2')
  expect(inFolder<string[]>(folder, 'unwritten(folder)')).toContain('Shop.reset is to be written: on the page it is reset in environment_shop.js')
})

describe('two steps in the real TRL', () => {
  const OUT = 'mix-out'
  const reward_funcs: GrpoConfig['reward_funcs'] = [
    { name: 'environment', take: 'own' },
    { name: 'accuracy_reward' },
    { name: 'think_format_reward', only: ['catch'] },
  ]
  let environment: Environment

  beforeAll(async () => {
    const made = await exported('train', { kind: 'mix', members: [member(LANE, 2), member(CATCH), member(SUMS)], dataset: null }, { reward_funcs, reward_weights: [1, 1, 0.5], eval_strategy: 'steps', eval_steps: 2, eval_episodes: 8, eval_on_start: false }, true)
    environment = made.environment
    await trainInTrl(made.folder, OUT, ['--steps', '2'])
  }, 10 * 60_000)

  it('play the page’s groups, each with its own environment’s prompt and tools', async () => {
    const rows = await completions(OUT, 1)
    const page = ours(environment, groupSeeds(SEED, 4, 4), 12, 'train').flatMap((group) => [group, group, group, group])
    expect(rows).toHaveLength(16)
    const called = rows.map(({ completion }) => completion.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ function: call }) => call.name))
    rows.forEach(({ prompt, completion }, i) => {
      const { prompt: begins, environment: name } = page[i] as Group
      expect(prompt[0]?.content).toBe(begins[0]?.content)
      expect(prompt.at(-1)?.content.startsWith(begins.at(-1)?.content ?? '')).toBe(true)
      const own = environment.members?.find((each) => each.name === name)?.tools.map((tool) => tool.function.name) ?? []
      expect(completion.some(({ role, content }) => role === 'tool' && /not found/.test(content))).toBe(called[i]?.some((tool) => !own.includes(tool)))
    })
    // The model calls the tools of the game that it is in.
    for (const [name, tools] of [['lane', /^(emergency_stop|lane_change|observe)$/], ['catch', /^move$/]] as const) {
      expect(called.some((names, i) => page[i]?.environment === name && names.some((tool) => tools.test(tool)))).toBe(true)
    }
    expect(rows.some(({ completion }, i) => page[i]?.environment === 'catch' && completion.some(({ role, content }) => role === 'tool' && /^height/.test(content)))).toBe(true)
    // Scenes of a game stand behind its prompt.
    expect(rows.filter(({ prompt }, i) => (prompt.at(-1)?.content.length ?? 0) > (page[i]?.prompt.at(-1)?.content.length ?? 0))).toHaveLength(12)
  })

  it('judge each episode by the functions that are for it, and measure each environment', async () => {
    const rows = (await completions(OUT, 1)) as unknown as Record<string, number | null>[]
    const names = ours(environment, groupSeeds(SEED, 4, 4), 12, 'train').flatMap((group) => Array<string>(4).fill(group.environment))
    const judged = (column: string) => rows.map((row) => row[column] !== null && !Number.isNaN(row[column]))
    expect(judged('environment_reward')).toEqual(names.map((name) => name !== 'arithmetic'))
    expect(judged('accuracy_reward')).toEqual(names.map((name) => name === 'arithmetic'))
    expect(judged('think_format_reward')).toEqual(names.map((name) => name === 'catch'))
    const steps = logs(OUT).filter((entry) => 'reward' in entry)
    expect(steps.map(({ step }) => step)).toEqual([1, 2])
    for (const name of ['lane', 'catch']) {
      const own = rows.filter((_, i) => names[i] === name).map((row) => row['environment_reward'] ?? 0)
      expect(steps[0]?.[`${name}/reward`]).toBeCloseTo(own.reduce((sum, each) => sum + each, 0) / own.length, 5)
      expect(steps[1]).toHaveProperty([`${name}/success`])
    }
    expect(steps.map((entry) => entry['unscorable'])).toEqual([0, 0])
    expect(logs(OUT).filter((entry) => 'eval_reward' in entry)).toHaveLength(1)
  })
})
