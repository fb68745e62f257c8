import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { recordOf } from '../../../e2e/reference/trl-run'
import type { GrpoConfig, RunConfig } from '../../core/config'
import { evaluationSeed } from '../../core/evaluation'
import type { RunRecord, StepSummary } from '../../core/run-record'
import { builtinEnvironment } from '../../env/builtin'
import { CATALOGUE } from '../../env/openenv/catalogue'
import { READERS } from './environment-script'
import { trlFolder, type TrlFolderInput } from './index'
import { grpoSettings } from './settings'
import { OPENENV, PACKAGES } from './versions'

const ADAPTER = ['a/adapter_config.json', 'a/adapter_model.safetensors'].map((path) => ({ path, content: 'x' }))
const BASE = [{ path: 'config.json', content: '{}' }]

function run(change: Partial<RunConfig> = {}, grpo: Partial<GrpoConfig> = {}): RunRecord {
  return recordOf('lane', builtinEnvironment('lane'), change, grpo)
}

function files(record: RunRecord, input: Partial<TrlFolderInput> = {}): Record<string, string> {
  const made = trlFolder({ run: record, history: [], adapter: ADAPTER, base: BASE, ...input })
  return Object.fromEntries(made.map(({ path, content }) => [path, String(content)]))
}

const train = (record: RunRecord, input: Partial<TrlFolderInput> = {}): string => files(record, input)['train.py'] ?? ''
const HUB = { model: 'Qwen/Qwen3-0.6B', model_revision: 'main' } as const

describe('the folder', () => {
  it('holds everything that a run needs elsewhere', () => {
    expect(Object.keys(files(run())).sort()).toEqual(
      ['README.md', 'accelerate/multi_gpu.yaml', 'accelerate/single_gpu.yaml', 'adapter/adapter_config.json', 'adapter/adapter_model.safetensors', 'base/config.json']
        .concat(['environment.py', 'game.py', 'games.py', 'playground.py', 'requirements-vllm.txt', 'requirements.txt', 'train.py'])
        .sort(),
    )
  })

  it('holds a client instead of a game for a server, at the address that the page reached', () => {
    const record = run({ environment: { kind: 'openenv', url: ' me/space ' } })
    const made = files(record, { server: 'https://me-space.hf.space' })
    expect(Object.keys(made)).toEqual(expect.arrayContaining(['sessions.py', 'observations.py', 'pictures.py', 'readers.py']))
    expect(made['game.py']).toBeUndefined()
    expect(made['environment.py']).toContain('_url = "https://me-space.hf.space"')
    expect(made['requirements.txt']).toContain(`openenv==${OPENENV}`)
    expect(made['README.md']).toContain('**64 sessions at once**')
    expect(files(record)['environment.py']).toContain('_url = "me/space"')
    // Nothing was found out about the server: what a tool sends is left to a person.
    expect(made['environment.py']).toContain('# STUB: the run does not say what its server gets')
    expect(files(run())['requirements.txt']).not.toContain('openenv')
  })

  it('refuses what TRL could not load', () => {
    expect(() => trlFolder({ run: run(), history: [], adapter: ADAPTER })).toThrow(/models\/tiny-qwen3 were not given/)
    expect(() => trlFolder({ run: run(), history: [], adapter: [], base: BASE })).toThrow(/LoRA of the run/)
    const record = run()
    expect(() => trlFolder({ run: { ...record, environment: { ...record.environment, tools: [] } }, history: [], adapter: ADAPTER, base: BASE })).toThrow(/without tools/)
  })

  it('asks for the versions that the reference checks run it with', () => {
    const asked = readFileSync(new URL('../../../e2e/reference/requirements.txt', import.meta.url), 'utf8').split('\n')
    for (const [name, version] of Object.entries({ ...PACKAGES, openenv: OPENENV })) expect(asked).toContain(`${name}==${version}`)
    expect(files(run())['requirements-vllm.txt']).toBe(`${files(run())['requirements.txt']}vllm==0.27.1\n`)
  })

  it('gives accelerate as many processes as share the episodes of a step evenly', () => {
    expect(files(run())['accelerate/multi_gpu.yaml']).toContain('num_processes: 8')
    expect(files(run({}, { num_generations: 3, prompts_per_step: 2 }))['accelerate/multi_gpu.yaml']).toContain('num_processes: 2')
    expect(files(run({}, { num_generations: 3, prompts_per_step: 1 }))['accelerate/multi_gpu.yaml']).toContain('num_processes: 1')
  })
})

describe('train.py', () => {
  it('has every setting of the run under TRL’s name', () => {
    const grpo = {
      ...{ num_generations: 6, prompts_per_step: 5, max_completion_length: 321, max_tool_calling_iterations: 4, max_steps: 17, learning_rate: 3e-5, lr_scheduler_type: 'cosine' as const },
      ...{ warmup_steps: 2, adam_beta1: 0.8, adam_beta2: 0.95, adam_epsilon: 1e-7, weight_decay: 0.01, max_grad_norm: 0.5, temperature: 0.9, top_p: 0.8, top_k: 20, min_p: 0.05 },
      ...{ loss_type: 'dr_grpo' as const, epsilon: 0.1, epsilon_high: 0.28, beta: 0.04, num_iterations: 2, scale_rewards: 'batch' as const, mask_truncated_completions: true, seed: 7, target_reward: 0.9 },
    }
    const script = train(run({ enable_thinking: true }, grpo))
    for (const line of [
      'NUM_GENERATIONS = 6', 'PROMPTS_PER_STEP = 5', 'MAX_COMPLETION_LENGTH = 321', 'STEPS = 17', 'NUM_ITERATIONS = 2', 'SEED = 7', 'TARGET_REWARD = 0.9',
      'CHAT_TEMPLATE_KWARGS = {"enable_thinking": True}', 'max_tool_calling_iterations=4,', 'learning_rate=0.00003,', 'lr_scheduler_type="cosine",', 'warmup_steps=2,',
      'adam_beta1=0.8,', 'adam_beta2=0.95,', 'adam_epsilon=1e-7,', 'weight_decay=0.01,', 'max_grad_norm=0.5,', 'temperature=0.9,', 'top_p=0.8,', 'top_k=20,', 'min_p=0.05,',
      'loss_type="dr_grpo",', 'epsilon=0.1,', 'epsilon_high=0.28,', 'beta=0.04,', 'scale_rewards="batch",', 'mask_truncated_completions=True,',
      'num_generations=NUM_GENERATIONS,', 'max_completion_length=MAX_COMPLETION_LENGTH,', 'num_iterations=NUM_ITERATIONS,', 'seed=SEED,', 'callbacks=[StopAtTarget()],',
    ]) expect(script).toContain(line)
    // Nothing of GrpoConfig is forgotten: what is no argument of GRPOConfig is computed in the script.
    const mapped = new Set(grpoSettings(run({}, grpo).config).map(({ name }) => name))
    const computed = ['prompts_per_step', 'max_steps', 'target_reward', 'steps_per_generation', 'max_staleness', 'dynamic_sampling', 'max_resampled_groups', 'reward_funcs']
      .concat(['eval_strategy', 'eval_steps', 'eval_on_start', 'eval_episodes', 'eval_greedy'])
    expect(Object.keys(run({}, grpo).config.grpo).filter((key) => !mapped.has(key)).sort()).toEqual(computed.sort())
  })

  it('divides the episodes over several optimizer steps, where the run does', () => {
    const divided = train(run({}, { steps_per_generation: 2, num_iterations: 3 }))
    for (const line of ['SHARES = 2', 'per_device //= SHARES', 'max_steps=args.steps * NUM_ITERATIONS * SHARES,', 'steps_per_generation=SHARES * (per_device // micro_batch),']) expect(divided).toContain(line)
    expect(train(run())).not.toContain('SHARES')
  })

  it('evaluates the same scenarios as often, where the run does', () => {
    const evaluates = train(run({}, { eval_strategy: 'steps', eval_steps: 5, eval_episodes: 48 }))
    for (const line of ['EVAL_EPISODES = 48', `EVAL_SEED = ${evaluationSeed('heldout')}`, '"split": "heldout"}', 'eval_strategy="steps",', 'eval_steps=5 * NUM_ITERATIONS,', 'eval_on_start=True,', 'num_generations_eval=1,', 'eval_dataset=eval_dataset,', 'trainer.evaluate()']) expect(evaluates).toContain(line)
    expect(evaluates).not.toContain('TRL draws in evaluations')
    const other = { eval_strategy: 'steps', eval_on_start: false, steps_per_generation: 2 } as const
    expect(train(run({}, { ...other, eval_greedy: true }))).toMatch(/STUB: the page took the likeliest token[^]*eval_steps=10 \* \(NUM_ITERATIONS \* SHARES\),\n {8}eval_on_start=False/)
    expect(train(run({}, { ...other, temperature: 0.7 }))).toContain('the page at temperature 1')
    const server = train(run({ environment: { kind: 'openenv', url: 'x' } }, { eval_strategy: 'steps' }))
    expect(server).toContain(`EVAL_SEED = ${evaluationSeed('train')}`)
    expect(server).not.toContain('heldout')
    expect(train(run())).not.toMatch(/eval/i)
    expect(files(run({}, { eval_strategy: 'steps' }))['README.md']).toContain('**Evaluations**')
    expect(files(run())['README.md']).not.toContain('**Evaluations**')
  })

  it('says what TRL cannot do', () => {
    expect(train(run({}, { dynamic_sampling: true }))).toContain('(dynamic_sampling); TRL has no such option')
    expect(train(run({}, { max_staleness: 1 }))).toContain('(max_staleness); GRPOTrainer samples after every update')
    expect(train(run())).not.toMatch(/dynamic_sampling|max_staleness/)
  })

  it('calls a constant rate with a warm-up by its own name', () => {
    expect(train(run({}, { warmup_steps: 3 }))).toContain('lr_scheduler_type="constant_with_warmup"')
    expect(train(run())).toContain('lr_scheduler_type="constant"')
  })

  it('takes a Hub model at the commit that was trained on, and a model of this site from base/', () => {
    expect(train({ ...run(HUB), modelSha: 'abc' }, { base: [] })).toContain('BASE = "Qwen/Qwen3-0.6B"\nREVISION = "abc"')
    expect(train(run(HUB), { base: [] })).toContain('REVISION = "main"')
    expect(train(run())).toContain('BASE = "base"\nREVISION = None')
  })

  it('compares with the policy that the run began with', () => {
    expect(train(run())).not.toContain('.ref.')
    expect(train(run({}, { beta: 0.1 }))).toContain('if ".ref." in name and "lora_B" in name:')
    const hub = train(run({ adapter: { kind: 'hub', repo: 'a/"b', revision: 'r' } }, { beta: 0.1 }))
    expect(hub).toContain('load_peft_weights("a/\\"b", revision="r")')
    expect(hub).toMatch(/# STUB: .*what r of\n.* It may have moved since/)
    expect(train(run({ adapter: { kind: 'hub', repo: 'a/b', revision: '0123456789'.repeat(4) } }, { beta: 0.1 }))).not.toContain('STUB')
    expect(hub).toContain('import PeftModel, load_peft_weights, set_peft_model_state_dict')
    expect(train(run({ adapter: { kind: 'file', name: 'mine\nevil()' } }, { beta: 0.1 }))).toMatch(/# STUB: .*the file mine\n {4}# evil\(\), which is not in this folder/)
  })

  it.each([
    ['fresh', null],
    ['of the Hub', { kind: 'hub', repo: 'me/lora', revision: 'main' }],
    ['a file', { kind: 'file', name: 'mine' }],
  ] as const)('compares with the adapter that the run began with where that is given, %s', (_, adapter) => {
    const made = files(run({ adapter }, { beta: 0.1 }), { start: ADAPTER })
    expect(made['train.py']).toContain('    set_peft_model_state_dict(trainer.model, load_peft_weights(str(args.folder / "start")), adapter_name="ref")\n    trainer.train()')
    expect(made['train.py']).toContain('import PeftModel, load_peft_weights, set_peft_model_state_dict')
    expect(made['train.py']).not.toMatch(/STUB|me\/lora|zero_/)
    expect(made['README.md']).toContain('| start/ |')
    expect(Object.keys(made).filter((path) => path.startsWith('start/'))).toEqual(['start/adapter_config.json', 'start/adapter_model.safetensors'])
  })

  it('has no use for the beginning without a KL term, or where the run is at its beginning', () => {
    for (const record of [run(), { ...run({}, { beta: 0.1 }), step: 0 }]) {
      const made = files(record, { start: ADAPTER })
      expect(made['train.py']).not.toContain('ref')
      expect(Object.keys(made).filter((path) => path.startsWith('start/'))).toEqual([])
    }
  })

  it('marks a base that the page kept in fewer bits', () => {
    expect(train(run({ precision: 'int4' }))).toMatch(/# STUB: the page kept the base weights as int4/)
    expect(train(run())).not.toContain('STUB')
  })

  it('averages bnpo over the whole step, as the page does', () => {
    expect(train(run({}, { loss_type: 'bnpo' }))).toContain('micro_batch = per_device\n')
  })

  it('trains all parameters where there is no LoRA', () => {
    const script = train({ ...run(), lora: null }, { adapter: [] })
    expect(script).not.toContain('PeftModel')
    expect(script).toContain('All parameters are trained')
  })
})

describe('what a person wrote', () => {
  const EVIL = '"""\nimport evil\n`x` | <b> # \\'

  it('stays text in Python and in Markdown', () => {
    const made = files({ ...run({ system_prompt: EVIL, user_prompt: EVIL }), name: EVIL })
    for (const name of ['train.py', 'environment.py']) expect(made[name]).not.toMatch(/^import evil/m)
    expect(made['environment.py']).toContain('USER_PROMPT = "\\"\\"\\"\\nimport evil\\n`x` | <b> # \\\\"')
    expect(made['README.md']?.split('\n')[0]).toBe('# """ import evil \\`x\\` \\| \\<b\\> \\# \\\\, continued in TRL')
  })
})

describe('README.md', () => {
  it('says what to expect first, how to start it anywhere, and where TRL differs', () => {
    const history = [0.25, 0.5].map((reward, i) => ({ step: i + 1, metrics: { reward } }) as unknown as StepSummary)
    const text = files(run(), { history })['README.md'] ?? ''
    expect(text).toContain('last 2 steps was 0.375')
    for (const part of ['accelerate launch --config_file accelerate/single_gpu.yaml train.py', '--num_processes 8', 'hf jobs uv run --flavor', '--vllm colocate', 'trl vllm-serve --model base/', '**Done.**']) {
      expect(text).toContain(part)
    }
    expect(text).toContain('finds no config file in `models/tiny-qwen3`')
    expect(files(run(HUB), { base: [] })['README.md']).not.toContain('finds no config file')
  })

  it('tells what a mean of the page includes that is left out here, and the mean without it where that was measured', () => {
    const reward_funcs: GrpoConfig['reward_funcs'] = [{ name: 'environment', take: 'own' }, { name: 'custom', called: 'brief', code: '' }]
    const record = run({}, { reward_funcs, reward_weights: [2, 1] })
    const step = (n: number, metrics: Record<string, number>) => ({ step: n, metrics }) as unknown as StepSummary
    const measured = [step(1, { reward: 0.9, 'rewards/lane/mean': 0.25, 'rewards/brief/mean': 0.4 }), step(2, { reward: 1.1, 'rewards/lane/mean': 0.35, 'rewards/brief/mean': 0.4 })]
    expect(files(record, { history: measured })['README.md']).toContain('was 1.000, with `brief`, which is a STUB here and left out; without it 0.600, which the first rewards here should be like.')
    expect(files(record, { history: [step(1, { reward: 0.9 })] })['README.md']).toContain('was 0.900, with `brief`, which is a STUB here and left out.')
    expect(train(record)).toMatch(/def main.*print\("The rewards are not those of the page: without brief, which is JavaScript and a STUB below\."\)\n.*\n {8}reward_funcs=/s)
    expect(train(run())).not.toContain('not those of the page')
    expect(train(run({}, { reward_funcs: reward_funcs.slice(1) }))).not.toContain('not those of the page')
    expect(train(run({}, { reward_funcs: [{ name: 'environment', take: 'sum' }] }))).toContain("the environment's own rule in place of the page's")
  })
})

it('has words in Python for every environment that the page puts into words', () => {
  const worded = CATALOGUE.flatMap(({ id, text, unsupported }) => (text !== undefined && unsupported === null ? [id] : []))
  expect(Object.keys(READERS).sort()).toEqual(worded.sort())
  const readers = readFileSync(new URL('../../../e2e/taken-away/trl/readers.py', import.meta.url), 'utf8')
  for (const name of Object.values(READERS)) expect(readers).toContain(`\ndef ${name}(frame: Frame)`)
})
