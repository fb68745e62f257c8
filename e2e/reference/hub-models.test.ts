/** Repositories that transformers saved, opened as the page opens them: float32 numbers, and configs that are refused. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseModelConfig } from '../../src/model/config'
import { repoCases, repoEngine, repos, savedRepo } from './hub-case'
import { testRepo } from './hub-suite'
import { REFERENCE, referenceJson } from './reference'

describe.each(repos)('%s', (repo) => {
  testRepo(repo, 'float32', 1e-4, () => repoEngine(savedRepo(repo), repo, repoCases(repo).lora, 'float32'))
})

const REFUSED: Record<string, RegExp> = {
  mistral: /^config\.json: model_type is "mistral", which is not supported\.$/,
  llama: /^config\.json: model_type is "llama", which is not supported\.$/,
  gpt2: /^config\.json: model_type is "gpt2", which is not supported\.$/,
  qwen3_moe: /^config\.json: model_type is "qwen3_moe", which is not supported\.$/,
  yarn: /^config\.json: rope_parameters\.rope_type is "yarn", only the default rope is supported\.$/,
  'yarn-4': /^config\.json: rope_scaling is "yarn", only the default rope is supported\.$/,
  sliding: /^config\.json: use_sliding_window is true, sliding-window attention is not supported\.$/,
  'attention-bias': /^config\.json: attention_bias is true, Qwen3 with attention bias is not supported\.$/,
  awq: /^config\.json: quantization_config\.quant_method is "awq", weights that are quantised in the file are not read\.$/,
  gelu: /^config\.json: hidden_act is "gelu", only silu is supported\.$/,
}

describe('a config.json by transformers that is not supported', () => {
  it('has a test each', () => {
    expect(Object.keys(REFUSED).sort()).toEqual(readdirSync(join(REFERENCE, 'hub-refused')).sort())
  })

  it.each(Object.entries(REFUSED))('%s is refused by name', (name, sentence) => {
    expect(() => parseModelConfig(referenceJson(`hub-refused/${name}/config.json`))).toThrow(sentence)
  })
})
