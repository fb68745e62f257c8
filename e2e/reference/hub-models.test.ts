/** Repositories that transformers saved, opened as the page opens them: float32 numbers, and configs that are refused. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSafetensorsHeader } from '../../src/hub/safetensors'
import { GAP_BYTES, HEAD_BYTES } from '../../src/hub/safetensors-source'
import { parseModelConfig } from '../../src/model/config'
import { baseTensors } from '../../src/runtime/weights'
import type { Hub } from '../hub/server'
import { openRepo, repoCases, repoEngine, repos, serveRepos } from './hub-case'
import { testRepo } from './hub-suite'
import { REFERENCE, referenceBytes, referenceJson } from './reference'

let hub: Hub
beforeAll(async () => {
  hub = await serveRepos()
})
afterAll(() => hub?.stop())

describe.each(repos)('%s', (repo) => {
  testRepo(repo, 'float32', 1e-4, async () => repoEngine(await openRepo(hub, repo), repo, repoCases(repo).lora, 'float32'))
})

it('does not download the second copy of a tied head', async () => {
  const [repo, file] = ['qwen3-bf16-wide-vocab-twice', 'model.safetensors']
  const bytes = referenceBytes(`hub/${repo}/${file}`)
  const { entries, dataStart } = readSafetensorsHeader(bytes)
  const head = entries.get('lm_head.weight')
  if (!head) throw new Error(`${repo} holds no lm_head.weight`)
  expect(head.end).toBeGreaterThan(HEAD_BYTES + GAP_BYTES)
  hub.requests.length = 0
  const source = await openRepo(hub, repo)
  const wanted = baseTensors(parseModelConfig(await source.config())).map(({ name }) => name)
  expect(wanted).not.toContain('lm_head.weight')
  const seen = new Set<string>()
  for await (const { name } of source.pieces(wanted)) seen.add(name)
  expect([...seen].sort()).toEqual([...wanted].sort())
  const ranges = hub.requests.filter((request) => request.at === 'cdn' && request.file === file).map(({ range }) => rangeOf(range, bytes.length))
  expect(ranges.length).toBeGreaterThan(1)
  for (const { begin, end } of ranges) expect(end <= HEAD_BYTES || begin >= dataStart + head.end, `bytes ${begin} to ${end}`).toBe(true)
})

/** Bytes [begin, end) that a Range header asks for. */
function rangeOf(header: string | null, size: number): { begin: number; end: number } {
  const [, begin, last] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? []
  return { begin: Number(begin ?? 0), end: last ? Number(last) + 1 : size }
}

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
