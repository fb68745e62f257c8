/** The real TRL trains on a dataset's prompts from an exported folder: the page's rows, none that the page holds out, judged by TRL's own functions. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readRows } from '../../src/core/rows'
import { builtinEnvironment } from '../../src/env/builtin'
import { splitRows } from '../../src/env/prompts/order'
import { type PromptRow, promptRows } from '../../src/env/prompts/rows'
import { peftAdapterFiles } from '../../src/hub/peft-writer'
import { trlFolder } from '../../src/hub/trl'
import { configOf, tinyEngine } from '../integration/grpo-run'
import { venvPython } from '../tools/venv'
import { REFERENCE } from './reference'
import { completions, logs, recordOf, tinyModelFiles, trainInTrl, writeFolder } from './trl-run'

const SYSTEM = 'Answer in a box.'
const FOLDER = join(REFERENCE, 'trl-move', 'prompts')
/** Texts that JSON writes in its own ways, and a conversation with a system message of its own. */
const TEXT = Array.from({ length: 80 }, (_, i) => {
  const asked = `${i} + ${i % 7} = "?"\n\\ é 字 😀 ${String.fromCharCode(i % 31)}`
  const prompt = i % 5 === 0 ? [{ content: 'Be short.', role: 'system' }, { content: asked, role: 'user' }] : asked
  return JSON.stringify({ prompt, solution: String(i + (i % 7)) })
}).join('\n')

describe("a dataset's prompts in the real TRL", () => {
  const { rows } = promptRows(readRows(TEXT).rows, SYSTEM)
  const split = splitRows(rows)
  const said = ({ messages }: Pick<PromptRow, 'messages'>) => JSON.stringify(messages.map(({ role, content }) => [role, content]))

  beforeAll(async () => {
    const config = configOf('lane', { num_generations: 4, prompts_per_step: 4, max_completion_length: 24 })
    const engine = await tinyEngine(config)
    try {
      const environment = { kind: 'prompts', dataset: { kind: 'text', name: 'sums.jsonl', text: TEXT } } as const
      const grpo = { ...config.grpo, reward_funcs: [{ name: 'accuracy_reward' } as const, { name: 'think_format_reward' } as const], reward_weights: [2, 0.5] }
      const run = recordOf('lane', builtinEnvironment('lane'), { environment, system_prompt: SYSTEM }, grpo)
      const adapter = peftAdapterFiles({ lora: config.lora, tensors: await engine.exportParameters(), baseModel: config.model, revision: null })
      writeFolder(FOLDER, trlFolder({ run, history: [], adapter, base: tinyModelFiles() }))
    } finally {
      await engine.dispose()
    }
    await trainInTrl(FOLDER, 'prompts-out', ['--steps', '2'])
  }, 10 * 60_000)

  it('are divided as on the page', () => {
    const script = 'import json, sys; sys.path.insert(0, sys.argv[1]); from prompts import split_rows; rows = [json.loads(line) for line in open(sys.argv[1] + "/data/train.jsonl", encoding="utf-8")]; print(json.dumps(split_rows(rows, sys.argv[2])))'
    const theirs = JSON.parse(execFileSync(venvPython('reference'), ['-c', script, FOLDER, SYSTEM], { encoding: 'utf8' })) as Record<'train' | 'heldout', { prompt: PromptRow['messages'] }[]>
    expect(theirs.heldout.length).toBeGreaterThan(2)
    for (const part of ['train', 'heldout'] as const) expect(theirs[part].map(({ prompt }) => said({ messages: prompt }))).toEqual(split[part].map(said))
  })

  it('are trained on, and only those that are not held out', async () => {
    expect(logs('prompts-out').filter((log) => 'reward' in log).map(({ step }) => step)).toEqual([1, 2])
    const known = new Set(split.train.map(said))
    const asked = [...(await completions('prompts-out', 1)), ...(await completions('prompts-out', 2))].map(({ prompt }) => said({ messages: prompt as PromptRow['messages'] }))
    expect(asked).toHaveLength(32)
    expect(asked.filter((one) => !known.has(one))).toEqual([])
    expect(new Set(asked).size).toBe(8)
  })
})
