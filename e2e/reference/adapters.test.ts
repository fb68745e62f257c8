/** Adapters that PEFT saved, from a local Hub: the same tensors and scores, and sentences for the kinds that are refused. */

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoraConfig } from '../../src/core/config'
import { HubClient } from '../../src/hub/client'
import { loadHubAdapter, type PeftAdapter } from '../../src/hub/peft-adapter'
import { parseModelConfig } from '../../src/model/config'
import { folderFiles, startHub, type Hub } from '../hub/server'
import { differing, expectScores } from './compare'
import { openRepo, precisionCase, repoCases, repoEngine, serveRepos } from './hub-case'
import { largestDifference, REFERENCE, referenceJson, referenceTensors } from './reference'

const { cases, refused } = referenceJson<{ cases: { name: string; repo: string; lora: LoraConfig }[]; refused: string[] }>('adapters.json')

let models: Hub
let adapters: Hub
beforeAll(async () => {
  models = await serveRepos()
  const repo = async (id: string, folder: string) => [id, { files: await folderFiles(join(REFERENCE, 'adapters', folder)) }] as const
  const served = [...cases.map(({ name }) => repo(`lora/${name}`, name)), ...refused.map((name) => repo(`refused/${name}`, `refused/${name}`))]
  adapters = await startHub({ repos: Object.fromEntries(await Promise.all(served)) })
})
afterAll(async () => {
  await adapters?.stop()
  await models?.stop()
})

async function load(id: string, repo: string): Promise<PeftAdapter> {
  const base = parseModelConfig(await (await openRepo(models, repo)).config())
  return loadHubAdapter(new HubClient({ endpoint: adapters.endpoint }), id, 'main', { base })
}

describe.each(cases)('$name', ({ name, repo, lora }) => {
  it('has the settings and, to the last bit, the tensors that PEFT trained', async () => {
    const adapter = await load(`lora/${name}`, repo)
    expect({ ...adapter.lora, target_modules: [...adapter.lora.target_modules].sort() }).toEqual({ ...lora, target_modules: [...lora.target_modules].sort() })
    expect(adapter.baseModel).toBe(`reference/${repo}`)
    expect(differing(adapter.tensors, referenceTensors(`adapters/${name}.safetensors`), largestDifference, Number.MIN_VALUE)).toEqual([])
  })
})

it.each(['float32', 'int4'] as const)('the adapter on a %s base scores as it does in PEFT', async (precision) => {
  const repo = 'qwen3-bf16-tied'
  const { batch } = repoCases(repo)
  const adapter = await load('lora/all', repo)
  const engine = await repoEngine(await openRepo(models, repo), repo, adapter.lora, precision)
  try {
    await engine.importParameters(adapter.tensors)
    const scores = await engine.score(batch, { temperature: 1 })
    expectScores(scores, precisionCase(repo, precision).scores['1.0'] ?? [], batch.map(({ mask }) => mask), 1e-4)
  } finally {
    await engine.dispose()
  }
})

const SENTENCES: Record<string, RegExp> = {
  dora: /use_dora is true/,
  bias: /bias is "all"/,
  'modules-to-save': /modules_to_save is \["norm"\]/,
  'rank-pattern': /rank_pattern is \{"layers\.1\.self_attn\.q_proj":4\}/,
  'one-layer': /layers_to_transform is \[1\]/,
  embedding: /target_modules names 'embed_tokens'/,
  ia3: /peft_type is "IA3", and only LORA is supported/,
}

it.each(refused)('an adapter with %s is refused by name', async (name) => {
  await expect(load(`refused/${name}`, 'qwen3-bf16-tied')).rejects.toThrow(SENTENCES[name])
})

it('has a sentence for each', () => {
  expect(Object.keys(SENTENCES).sort()).toEqual([...refused].sort())
})
