/** A run without an environment, taken to TRL: the rows or their commit, TRL's own reward functions, and no other judge in place of one that is missing. */
import { describe, expect, it } from 'vitest'
import { recordOf } from '../../../e2e/reference/trl-run'
import type { GrpoConfig } from '../../core/config'
import type { DatasetFacts } from '../../core/dataset'
import type { PromptSource } from '../../core/environment-spec'
import { OWN_REWARD, type RewardFunc } from '../../core/reward-funcs'
import type { RunRecord } from '../../core/run-record'
import { builtinEnvironment } from '../../env/builtin'
import { trlFolder, type TrlFolderInput } from './index'

const ACCURACY: RewardFunc = { name: 'accuracy_reward' }
const TEXT: PromptSource = { kind: 'text', name: 'mine', text: '[{"prompt": "1 + 1 =", "solution": "2"}, {"prompt": "2 + 2 =", "solution": "4"}]' }
const HUB: PromptSource = { kind: 'hub', repo: 'me/sums', revision: 'main', config: null, split: null }
const place = { repo: 'me/sums', revision: 'main', sha: 'a'.repeat(40), config: 'hard', split: 'test' }

function record(dataset: PromptSource, grpo: Partial<GrpoConfig> = {}, facts: Partial<DatasetFacts> = {}): RunRecord {
  const made = recordOf('lane', builtinEnvironment('lane'), { environment: { kind: 'prompts', dataset }, system_prompt: 'Be "short".' }, { reward_funcs: [ACCURACY], ...grpo })
  return { ...made, environment: { name: 'sums', tools: [], prompts: { system: '', user: '' }, dataset: { name: 'sums', rows: 2, heldOut: 0, columns: ['solution'], ...facts } } }
}

function files(run: RunRecord, input: Partial<TrlFolderInput> = {}): Record<string, string> {
  const adapter = ['a/adapter_config.json', 'a/adapter_model.safetensors'].map((path) => ({ path, content: 'x' }))
  const made = trlFolder({ run, history: [], adapter, base: [{ path: 'config.json', content: '{}' }], ...input })
  return Object.fromEntries(made.map(({ path, content }) => [path, String(content)]))
}

describe("a dataset's prompts in TRL", () => {
  it('are rows of the folder where they were pasted, read as the page reads them', () => {
    const { 'train.py': train = '', 'README.md': readme = '', ...others } = files(record(TEXT))
    expect(others['data/train.jsonl']).toBe('{"prompt":"1 + 1 =","solution":"2"}\n{"prompt":"2 + 2 =","solution":"4"}\n')
    expect(Object.keys(others)).toEqual(expect.arrayContaining(['prompts.py', 'playground.py']))
    expect(Object.keys(others)).not.toContain('environment.py')
    expect(train).toContain('from trl.rewards import accuracy_reward')
    expect(train).toContain('split_rows(rows, "Be \\"short\\".", hold_out=True)["train"]')
    expect(train).toContain('shuffle_dataset=True')
    expect(train).not.toMatch(/environment_factory=|TOOLS|STUB|environment_reward/)
    expect(readme).toContain('data/train.jsonl')
    expect(readme).not.toMatch(/environment\.py|Malformed calls/)
  })

  it('are named with the commit that the page read where they are on the Hub', () => {
    const made = files(record(HUB, {}, { place }))
    expect(made['train.py']).toContain(`load_dataset("me/sums", "hard", split="test", revision="${'a'.repeat(40)}")`)
    expect(made['data/train.jsonl']).toBeUndefined()
    expect(made['README.md']).toContain('me/sums@aaaaaaa')
  })

  it('are the rows that the page makes, without those that it holds out', () => {
    const made = files(record({ kind: 'builtin', name: 'arithmetic' }), { rows: { train: [{ prompt: 'x', solution: '1' }], heldout: [] } })
    expect(made['data/train.jsonl']).toBe('{"prompt":"x","solution":"1"}\n')
    expect(made['train.py']).toContain('hold_out=False')
    expect(() => files(record({ kind: 'builtin', name: 'arithmetic' }))).toThrow(/rows of arithmetic were not given/)
  })

  it('are judged with the weights of the page, the environment aside', () => {
    const { 'train.py': train = '' } = files(record(TEXT, { reward_funcs: [OWN_REWARD, ACCURACY, { name: 'think_format_reward' }], reward_weights: [1, 2, 0.5] }))
    expect(train).toContain('from trl.rewards import accuracy_reward, think_format_reward')
    expect(train).toContain('reward_weights=[2, 0.5]')
    expect(train).not.toContain('environment_reward')
  })

  it('are not trained on where a judge is JavaScript: the script ends with a sentence', () => {
    const { 'train.py': train = '' } = files(record(TEXT, { reward_funcs: [{ name: 'custom', called: 'shorter', code: 'function shorter() {}' }, ACCURACY] }))
    expect(train).toMatch(/def main.*sys\.exit\("The page judged with shorter, which is JavaScript:/s)
    expect(train).toContain('# STUB: shorter is JavaScript')
  })
})
