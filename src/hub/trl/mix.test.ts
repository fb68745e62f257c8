/** Runs of several environments and of classes of the page, taken to TRL: their files, names and limits. */

import { describe, expect, it } from 'vitest'
import type { GrpoConfig } from '../../core/config'
import type { MemberFacts } from '../../core/environment'
import type { MixMember, PromptSource } from '../../core/environment-spec'
import type { RunRecord } from '../../core/run-record'
import { builtinEnvironment } from '../../env/builtin'
import { NUMBER_GAME } from '../../env/custom/examples'
import { recordOf } from '../../../e2e/reference/trl-run'
import { trlFolder, type TrlFolderInput } from './index'

const TOOLS = builtinEnvironment('lane').tools
const ADAPTER = ['adapter_config.json', 'adapter_model.safetensors'].map((path) => ({ path, content: 'x' }))
const TEXT: PromptSource = { kind: 'text', name: 'mine.jsonl', text: '{"prompt":"1 + 1 =","solution":"2"}' }
const ROWS = { train: [{ prompt: 'a', solution: '1' }], heldout: [{ prompt: 'b', solution: '2' }] }
const WRITTEN = { lines: { reset: 3, guess: 15, get_reward: 26 }, heldOut: true, successAt: 0.7, hasReward: true, judges: true }

type Given = [name: string, environment: MixMember['environment'], more?: Partial<MixMember>]

function mixOf(given: readonly Given[], dataset: PromptSource | null = null, grpo: Partial<GrpoConfig> = {}): RunRecord {
  const members = given.map(([, environment, more]): MixMember => ({ environment, weight: 1, system_prompt: '', user_prompt: '', ...more }))
  const facts = given.map(([name, { kind }]): MemberFacts => ({ name, tools: kind === 'prompts' ? [] : [...TOOLS], prompts: { system: `System of ${name}.`, user: `User of ${name}.` }, maxSessions: null }))
  const run = recordOf('lane', builtinEnvironment('lane'), { environment: { kind: 'mix', members, dataset } }, grpo)
  return { ...run, environment: { ...run.environment, name: given.map(([name]) => name).join(' + '), members: facts } }
}

function files(run: RunRecord, input: Partial<TrlFolderInput> = {}): Record<string, string> {
  const made = trlFolder({ run, history: [], adapter: ADAPTER, base: [{ path: 'config.json', content: '{}' }], rows: ROWS, ...input })
  expect(new Set(made.map(({ path }) => path)).size).toBe(made.length)
  return Object.fromEntries(made.map(({ path, content }) => [path, String(content)]))
}

const LANE = { kind: 'builtin', name: 'lane' } as const
const CATCH = { kind: 'builtin', name: 'catch' } as const
const SERVER = { kind: 'openenv', url: 'http://localhost:8000' } as const
const CUSTOM = { kind: 'custom', ...NUMBER_GAME } as const
const SUMS = { kind: 'prompts', dataset: { kind: 'builtin', name: 'arithmetic' } } as const

describe('several environments in TRL', () => {
  it('have a file each, and share what is the same', () => {
    const made = files(mixOf([['lane', LANE], ['lane_2', LANE, { weight: 0.5 }], ['Echo "Env"', SERVER], ['NumberGame', CUSTOM], ['arithmetic', SUMS], ['mine.jsonl', { kind: 'prompts', dataset: TEXT }]]), { written: [null, null, null, WRITTEN, null, null] })
    const python = ['environment', 'environment_lane', 'environment_lane_2', 'environment_echo_env', 'environment_numbergame', 'game_lane', 'games', 'sessions', 'written', 'mix', 'round_robin', 'prompts', 'limits', 'playground']
    expect(Object.keys(made)).toEqual(expect.arrayContaining([...python.map((name) => `${name}.py`), 'environment_numbergame.js', 'data/arithmetic-train.jsonl', 'data/arithmetic-heldout.jsonl', 'data/mine_jsonl-train.jsonl']))
    expect(made['environment.py']).toContain('import environment_lane\nimport environment_lane_2\nimport environment_echo_env\nimport environment_numbergame\nfrom mix import Answers, Member')
    expect(made['environment.py']).toContain('name="Echo \\"Env\\"",\n        chosen_as="http://localhost:8000",\n        kind=environment_echo_env.PlaygroundEnvironment,')
    expect(made['environment.py']).toMatch(/name="lane_2",\n[^)]*weight=0\.5,\n {8}held_out=True,/)
    expect(made['environment.py']).toMatch(/name="arithmetic",\n[^)]*kind=Answers,\n {8}tools=\[\],\n {8}system_prompt="System of arithmetic\.",/)
    expect(made['environment_lane.py']).toContain('    _game = game_lane')
    expect(made['environment_lane_2.py']).toContain('SYSTEM_PROMPT = "System of lane_2."')
    expect(made['requirements.txt']).toContain('openenv==')
  })

  it('train as a dict of factories over rows that name one, in an order that is the page’s', () => {
    const { 'train.py': train = '', 'README.md': readme = '' } = files(mixOf([['lane', LANE, { weight: 2 }], ['Echo', SERVER], ['arithmetic', SUMS]], null, { eval_strategy: 'steps' }))
    for (const line of [
      'environment_factory={member.name: member.kind for member in MEMBERS},',
      'trainer._env_tools = {member.name: member.tools for member in MEMBERS}',
      'prompts = Prompts(MEMBERS, SEED, own=own)',
      'shuffle_dataset=False,',
      'metavar="NAME=URL"',
      'addressed[name]._url = url',
      'EVAL_SEEDS = {"train":',
      '0, prompts.evaluated(EVAL_EPISODES)), 0, prompts.split))',
      'if len(eval_dataset) % (size * processes) == 0',
      'def environment_reward(environments: list[Any], environment: list[str], log_metric',
    ]) expect(train).toContain(line)
    expect(train).not.toMatch(/STUB|from environment import SYSTEM/)
    expect(readme).toContain('* `lane`, weight 2\n* `Echo`, weight 1 (`http://localhost:8000`)\n* `arithmetic`, weight 1')
    expect(readme).toContain('up to 64 sessions at once')
    expect(readme).toContain('* `Echo`: `http://localhost:8000`')
    expect(readme).toContain('**Prompts without an environment**')
  })

  it('read a dataset’s rows, whose column chooses', () => {
    const run = mixOf([['lane', LANE], ['catch', CATCH]], TEXT)
    const made = files(run)
    expect(made['data/train.jsonl']).toBe('{"prompt":"1 + 1 =","solution":"2"}\n')
    expect(made['train.py']).toContain('chosen = split_rows(known_rows(read_rows(args.folder / "data/train.jsonl"), MEMBERS), "")')
    const hub: PromptSource = { kind: 'hub', repo: 'me/rows', revision: 'main', config: null, split: null }
    const place = { repo: 'me/rows', revision: 'main', sha: 'a'.repeat(40), config: 'default', split: 'test' }
    const far = mixOf([['lane', LANE], ['sums', { kind: 'prompts', dataset: hub }]], hub)
    const { 'train.py': train = '' } = files({ ...far, environment: { ...far.environment, dataset: { name: 'me/rows', rows: 1, heldOut: 0, columns: [], place } } })
    expect(train).toContain(`chosen = split_rows(known_rows(load_dataset("me/rows", None, split="test", revision="${'a'.repeat(40)}")`)
    expect(train).toContain('# The page read me/rows at this revision, which may have moved since.\n        "sums": split_rows(load_dataset("me/rows", None, split="train", revision="main")')
  })

  it('are judged where a function is for them', () => {
    const reward_funcs: GrpoConfig['reward_funcs'] = [
      { name: 'environment', take: 'own', only: ['lane', 'http://localhost:8000'] },
      { name: 'accuracy_reward' },
      { name: 'repetition_penalty_reward', ngram_size: 3, max_penalty: -1, only: ['arithmetic'] },
      { name: 'custom', called: 'mine', code: 'function mine() {}', only: ['lane'] },
    ]
    const given: Given[] = [['lane', LANE], ['Echo', SERVER], ['arithmetic', SUMS], ['lane_2', LANE]]
    const { 'train.py': train = '' } = files(mixOf(given, null, { reward_funcs }))
    expect(train).toContain('    from limits import in_environments, with_column\n')
    expect(train).toContain('            in_environments(environment_reward, ["lane", "Echo", "lane_2"]),\n            with_column(accuracy_reward, "solution"),\n')
    expect(train).toContain('            in_environments(get_repetition_penalty_reward(ngram_size=3, max_penalty=-1), ["arithmetic"]),\n')
    expect(train).toContain('It judges lane, lane_2 alone: in_environments of limits.py.')
    expect(files(mixOf(given))['train.py']).not.toContain('from limits')
    // Alone, an environment has no limits.
    const single = recordOf('lane', builtinEnvironment('lane'), {}, { reward_funcs: reward_funcs.slice(0, 1) })
    expect(files(single)['train.py']).toContain('        reward_funcs=environment_reward,')
  })

  it('are refused where the record does not tell of them', () => {
    const run = mixOf([['lane', LANE], ['catch', CATCH]])
    const { members: _, ...environment } = run.environment
    expect(() => files({ ...run, environment })).toThrow(/does not tell what its environments are/)
  })
})

describe('a class of the page in TRL', () => {
  const run = recordOf('lane', builtinEnvironment('lane'), { environment: CUSTOM, tool_edits: [] })
  const guess = { type: 'function' as const, function: { name: 'guess', description: 'Guess the """number""".', parameters: { type: 'object', properties: { number: { type: 'integer', description: 'From 1 to 8.' }, pass: { type: 'string', description: '' } }, required: ['number'] }, return: { type: 'string', description: 'Whether it is higher.' } } }
  const record = { ...run, environment: { ...run.environment, tools: [guess, { ...guess, function: { ...guess.function, name: 'plain', parameters: { type: 'object', properties: { number: { type: 'integer', description: 'n' } } } } }] } }

  it('is the same class in Python, to be written, beside its source', () => {
    const made = files(record, { written: [WRITTEN] })
    expect(made['environment.js']).toBe(`${NUMBER_GAME.code.trimEnd()}\n`)
    const { 'environment.py': script = '', 'train.py': train = '', 'README.md': readme = '' } = made
    expect(script).toContain('class NumberGame(Written):')
    expect(script).toContain('        raise NotImplementedError("NumberGame.reset is to be written: on the page it is reset in environment.js, line 3")')
    // `pass` cannot be a parameter in Python.
    expect(script).toContain('    def guess(self, **arguments: Any) -> str:\n        """Guess the \\"\\"\\"number\\"\\"\\".\n')
    expect(script).toContain('    def plain(self, number: int | None = None) -> str:')
    expect(script).toContain('        Args:\n            number: n\n\n        Returns:\n            Whether it is higher.\n')
    expect(script).toContain('    success_at=0.7,')
    expect(train).toContain('    missing = unwritten(args.folder)')
    expect(train.indexOf('unwritten(args.folder)')).toBeLessThan(train.indexOf('model=load_model(base'))
    expect(readme).toContain('## To be written first')
    expect(readme).toContain('| environment.js |')
  })

  it('evaluates other scenarios where the class has such', () => {
    const evaluates = { ...record, config: { ...record.config, grpo: { ...record.config.grpo, eval_strategy: 'steps' as const } } }
    expect(files(evaluates, { written: [WRITTEN] })['train.py']).toContain('"split": "heldout"}')
    expect(files(evaluates, { written: [{ ...WRITTEN, heldOut: false }] })['train.py']).not.toContain('heldout')
  })
})

it('train.py says who is to judge where only JavaScript does', () => {
  const mine = { name: 'custom', called: 'mine', code: '' } as const
  const train = (reward_funcs: GrpoConfig['reward_funcs']) => files(recordOf('lane', builtinEnvironment('lane'), {}, { reward_funcs }))['train.py'] ?? ''
  expect(train([mine])).toContain('sys.exit("The page judged with mine, which is JavaScript')
  expect(train([mine, { name: 'environment', take: 'own' }])).not.toContain('The page judged')
})
