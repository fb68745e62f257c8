/** Model cards that we wrote: huggingface_hub reads their metadata as it was meant, and their Python loads, runs and merges the files beside them. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_LORA } from '../../src/core/config'
import { modelCard, type ModelCardInput } from '../../src/hub/model-card'
import { sampleHistory, sampleRun } from '../../src/hub/testing/episodes'
import { adapterFiles, tinyConfig } from '../hub/models'
import { venvPython } from '../tools/venv'
import { smallFiles, writeExport } from './peft-case'
import { largestDifference, REFERENCE, ROOT, referenceJson } from './reference'

const PLACE = 'cards'
const TINY = join(ROOT, 'public/models/tiny-qwen3')
const IDS = [1, 17, 300, 512, 9]
const NASTY = 'a: "b"\n---\nlicense: nope\n- [x] # \u2028 \u0007 \ud800 ü 😀 {y: 1} %YAML \\ \' & * ! | > @ `'

interface Answer {
  folder: string
  metadata: Record<string, unknown>
  /** After every block of Python: of the last token, [words]. */
  logits: number[][]
  words: number
}

const tinyRun = (() => {
  const run = sampleRun()
  const config = { ...run.config, model: 'models/tiny-qwen3', precision: 'float32' as const, environment: { kind: 'builtin' as const, name: 'lane' as const } }
  return sampleRun({ name: NASTY, config, modelSha: null, engine: { ...run.engine, parameters: 492_640 } })
})()
const card = (more: Partial<ModelCardInput>) => ({ path: 'README.md', content: modelCard({ run: sampleRun(), history: sampleHistory(), kind: 'adapter', repo: 'me/lora', curve: 'reward.png', ...more }) })

let answers: Record<string, Answer>
beforeAll(async () => {
  const base = [...smallFiles(TINY), { path: 'model.safetensors', content: readFileSync(join(TINY, 'model.safetensors')) }]
  const adapter = Object.entries(adapterFiles(await tinyConfig(), DEFAULT_LORA)).map(([path, content]) => ({ path, content: content as Uint8Array<ArrayBuffer> | string }))
  const inFolder = base.map(({ path, content }) => ({ path: `base/${path}`, content }))
  const folders = {
    adapter: [card({ run: tinyRun, baseFolder: 'base' }), ...adapter, ...inFolder],
    // What its card calls the repository is this folder.
    merged: [card({ run: tinyRun, kind: 'merged', license: 'apache-2.0', repo: join(REFERENCE, PLACE, 'merged') }), ...base],
    hub: [card({ run: sampleRun({ name: NASTY }), dataset: 'me/data' })],
    'hub-merged': [card({ kind: 'merged' })],
  }
  for (const [name, files] of Object.entries(folders)) writeExport(join(PLACE, name), files)
  const cases = Object.keys(folders).map((folder) => ({ folder, ...(folder.startsWith('hub') ? {} : { ids: IDS }) }))
  const place = join(REFERENCE, PLACE)
  writeFileSync(join(place, 'cases.json'), JSON.stringify(cases))
  execFileSync(venvPython('reference'), ['e2e/reference/card_cases.py', place], { cwd: ROOT, env: { ...process.env, OMP_WAIT_POLICY: 'PASSIVE' }, stdio: 'inherit' })
  answers = Object.fromEntries(referenceJson<Answer[]>(join(PLACE, 'answers.json')).map((answer) => [answer.folder, answer]))
})
const of = (folder: string): Answer => answers[folder] as Answer

describe('metadata', () => {
  it('is what was meant, whatever a person wrote', () => {
    expect(of('hub').metadata).toEqual({
      base_model: 'Qwen/Qwen3-0.6B',
      base_model_relation: 'adapter',
      library_name: 'peft',
      pipeline_tag: 'text-generation',
      tags: ['base_model:adapter:Qwen/Qwen3-0.6B', 'lora', 'transformers', 'grpo', 'reinforcement-learning', 'openenv', 'grpo-playground'],
      datasets: ['me/data'],
    })
    expect(of('adapter').metadata).toEqual({ library_name: 'peft', pipeline_tag: 'text-generation', tags: ['lora', 'transformers', 'grpo', 'reinforcement-learning', 'grpo-playground'] })
    expect(of('hub-merged').metadata).toMatchObject({ library_name: 'transformers', base_model_relation: 'finetune' })
    expect(of('merged').metadata).toMatchObject({ license: 'apache-2.0' })
  })
})

describe('the Python of the card', () => {
  it('loads the adapter on its base and merges it: the same answers, and not those of the base', () => {
    const [loaded, merged] = of('adapter').logits
    const [base] = of('merged').logits
    if (!loaded || !merged || !base) throw new Error('the card has too few blocks')
    expect(loaded).toHaveLength(of('adapter').words)
    expect(largestDifference(loaded, merged)).toBeLessThan(1e-4)
    expect(largestDifference(loaded, base)).toBeGreaterThan(1e-2)
  })
})
