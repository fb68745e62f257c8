import { describe, expect, it } from 'vitest'
import { DEFAULT_LORA, type LoraConfig } from '../core/config'
import type { Graph } from '../graph/graph'
import { OPSET, toOnnx } from '../graph/onnx'
import { fields, texts } from '../graph/testing/wire'
import { parseModelConfig } from '../model/config'
import { QWEN25_05B, QWEN3_06B } from '../model/testing/configs'
import { buildAll, buildArtifact } from './build'
import { type ArtifactName, artifactNames, type ArtifactSpec, BATCH_SIZES } from './spec'

const tiny = { hidden_size: 32, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16, intermediate_size: 48, vocab_size: 40 }
const qwen3 = parseModelConfig({ ...QWEN3_06B, ...tiny })
const qwen2 = parseModelConfig({ ...QWEN25_05B, ...tiny, tie_word_embeddings: false })
const all: LoraConfig = { ...DEFAULT_LORA, r: 4 }
const specOf = (config: typeof qwen3, lora: LoraConfig | null): ArtifactSpec => ({ config, lora, precision: 'float32' })
const specs: [string, ArtifactSpec][] = [
  ['Qwen3, LoRA on all', specOf(qwen3, all)],
  ['Qwen3, LoRA on q and v', specOf(qwen3, { ...all, target_modules: ['q_proj', 'v_proj'] })],
  ['Qwen3, all parameters', specOf(qwen3, null)],
  ['Qwen2, LoRA on all', specOf(qwen2, all)],
  ['Qwen2, all parameters', specOf(qwen2, null)],
]
const namesOf = (values: readonly { name: string }[]): string[] => values.map(({ name }) => name)
const inputsOf = (spec: ArtifactSpec, name: ArtifactName): string[] => namesOf(buildArtifact(spec, name).liveInputs())

describe.each(specs)('%s', (_name, spec) => {
  it('gives the same bytes and the same sums each time', async () => {
    const [one, two] = [await buildAll(spec, '1.30.0'), await buildAll(structuredClone(spec), '1.30.0')]
    expect(one.manifest).toEqual(two.manifest)
    for (const [file, bytes] of one.files) expect(Buffer.from(bytes).equals(Buffer.from(two.files.get(file) ?? [])), file).toBe(true)
  })

  it('describes every file in the manifest', async () => {
    const { manifest, files } = await buildAll(spec, '1.30.0')
    expect(manifest).toMatchObject({ format: 'grpo-playground-artifacts/1', spec, opset: OPSET, onnxruntime: '1.30.0' })
    expect(namesOf(manifest.files)).toEqual(artifactNames(spec))
    expect([...files.keys()]).toEqual(manifest.files.map(({ file }) => file))
    for (const { name, file, bytes, sha256, inputs, outputs } of manifest.files) {
      const digest = await crypto.subtle.digest('SHA-256', files.get(file) as Uint8Array<ArrayBuffer>)
      expect(sha256).toBe(Buffer.from(digest).toString('hex'))
      expect(bytes).toBe(files.get(file)?.length)
      const graph = buildArtifact(spec, name)
      expect(namesOf(inputs)).toEqual(namesOf(graph.liveInputs()))
      expect(namesOf(outputs)).toEqual(namesOf(graph.outputs))
      expect(outputs.every(({ shape, dtype }) => shape.length > 0 && dtype !== '')).toBe(true)
    }
    expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest)
  })

  it('writes no input that nothing reads', () => {
    for (const name of artifactNames(spec)) {
      const graph = fields(fields(toOnnx(buildArtifact(spec, name))).find(({ field }) => field === 7)?.bytes ?? new Uint8Array())
      const read = new Set(graph.filter(({ field }) => field === 1).flatMap(({ bytes }) => texts(fields(bytes), 1)))
      const written = graph.filter(({ field }) => field === 11).flatMap(({ bytes }) => texts(fields(bytes), 1))
      expect(written.length).toBeGreaterThan(0)
      expect(written.filter((input) => !read.has(input)), name).toEqual([])
    }
  })

  it('computes with no int64 on WebGPU, which only gathers by them', () => {
    const free = new Set(['Gather', 'GatherElements', 'RotaryEmbedding'])
    for (const name of artifactNames(spec)) {
      const graph = buildArtifact(spec, name)
      const constants = new Set(graph.constants.map(({ value }) => value))
      const offenders = graph.liveNodes().filter((node) => !free.has(node.op) && node.inputs.some((value) => value?.dtype === 'int64' && !constants.has(value)))
      expect(offenders.map((node) => node.op), name).toEqual([])
    }
  })
})

it('another spec, another sum', async () => {
  const sums = async (lora: LoraConfig): Promise<Map<string, string>> =>
    new Map((await buildAll(specOf(qwen3, lora), 'x')).manifest.files.map(({ name, sha256 }) => [name, sha256]))
  const [base, rank, alpha, rs] = [await sums(all), await sums({ ...all, r: 8 }), await sums({ ...all, lora_alpha: 64 }), await sums({ ...all, use_rslora: true })]
  for (const changed of [rank, alpha, rs]) {
    const differing = [...base].filter(([name, sum]) => changed.get(name) !== sum).map(([name]) => name)
    expect(differing).toEqual([...base.keys()].filter((name) => /^(decode|prefill|block)/.test(name)))
    expect(differing.length).toBeGreaterThanOrEqual(2 + 2 * BATCH_SIZES.length)
  }
})

describe('a LoRA', () => {
  const lora = (names: string[]): string[] => names.filter((name) => name.includes('lora_'))
  const qv = specOf(qwen3, { ...all, target_modules: ['q_proj', 'v_proj'] })

  it('on q and v is read, and differentiated, there alone', () => {
    const expected = ['q_proj', 'v_proj'].flatMap((target) => [`self_attn.${target}.lora_A`, `self_attn.${target}.lora_B`])
    expect(lora(inputsOf(qv, 'block_forward_1'))).toEqual(expected)
    expect(namesOf(buildArtifact(qv, 'block_backward_1').outputs)).toEqual(['dx', ...expected.map((name) => `d.${name}`)])
    expect(lora(inputsOf(qv, 'decode'))).toEqual([0, 1].flatMap((layer) => expected.map((name) => `layers.${layer}.${name}`)))
  })

  it('is scaled by alpha/r, with rsLoRA by alpha/√r', () => {
    const scales = (config: LoraConfig): number[] => {
      const { nodes } = buildArtifact(specOf(qwen3, config), 'block_forward_1')
      const alphas = nodes.flatMap((node) => (node.op === 'Gemm' && node.attributes.alpha && 'float' in node.attributes.alpha ? [node.attributes.alpha.float] : []))
      return [...new Set(alphas)].sort((a, b) => a - b)
    }
    expect(scales({ ...all, r: 16, lora_alpha: 8 })).toEqual([0.5, 1])
    expect(scales({ ...all, r: 16, lora_alpha: 8, use_rslora: true })).toEqual([1, 2])
  })

  it('leaves the base frozen: no gradient of it', () => {
    const graph = buildArtifact(specOf(qwen3, all), 'block_backward_1')
    expect(namesOf(graph.outputs).filter((name) => !name.includes('lora_'))).toEqual(['dx'])
    expect(namesOf(buildArtifact(specOf(qwen3, all), 'head_backward').outputs)).toEqual(['dx'])
  })
})

it('full training differentiates every base tensor', () => {
  const spec = specOf(qwen2, null)
  const declared = inputsOf(spec, 'block_forward_1').filter((name) => name.includes('.'))
  expect(namesOf(buildArtifact(spec, 'block_backward_2').outputs)).toEqual(['dx', ...declared.map((name) => `d.${name}`)])
  expect(declared).toContain('self_attn.q_proj.bias')
  expect(namesOf(buildArtifact(spec, 'head_backward').outputs)).toEqual(['dx', 'd_norm', 'd_table'])
  expect(artifactNames(spec)).toContain('embed_backward')
})

describe('baked weights', () => {
  const filled = (n: number): Float32Array => new Float32Array(n).fill(0.5)
  const table = filled(40 * 32)
  const frozen = { block: (layer: number, name: string) => filled(sizeOf(layer, name)), table, norm: filled(32), head: table }
  const spec = specOf(qwen3, all)
  const sizeOf = (layer: number, name: string): number =>
    buildArtifact(spec, 'decode').inputs.find((input) => input.name === `layers.${layer}.${name}`)?.shape.reduce<number>((n, dim) => n * Number(dim), 1) ?? 0

  it('are no inputs any more; the LoRA and the cache still are', () => {
    const inputs = namesOf(buildArtifact(spec, 'decode', frozen).liveInputs())
    expect(inputs.filter((name) => /weight|bias/.test(name))).toEqual([])
    expect(inputs).toEqual(expect.arrayContaining(['x', 'past.1.key', 'layers.1.mlp.up_proj.lora_B']))
    for (const name of ['embed', 'head_sample', 'head_sample_filtered'] as const) {
      expect(namesOf(buildArtifact(spec, name, frozen).liveInputs()), name).not.toContain('table')
    }
  })

  it('are in the file', () => {
    const [plain, baked] = [toOnnx(buildArtifact(spec, 'embed')), toOnnx(buildArtifact(spec, 'embed', frozen))]
    expect(baked.length - plain.length).toBeGreaterThan(table.byteLength - 64)
  })
})

it('refuses a name that is none', () => {
  expect(() => buildArtifact(specOf(qwen3, all), 'block_sideways_1' as ArtifactName)).toThrow(/block_sideways_1/)
})

/** Nodes that onnxruntime dispatches: all but those that only name the same elements anew. */
const dispatches = (graph: Graph): number => graph.liveNodes().filter((node) => node.op !== 'Reshape').length

describe('counts dispatches (a change here is a change of speed)', () => {
  const counts = (spec: ArtifactSpec): Record<string, number> => {
    const names = ['block_forward_1', 'block_backward_1', 'decode', 'head_sample', 'head_sample_filtered', 'head_forward', 'head_backward', 'adamw'] as const
    return Object.fromEntries(names.map((name) => [name, dispatches(buildArtifact(spec, name))]))
  }
  it('of a LoRA on all seven layers', () => {
    expect(counts(specOf(qwen3, all))).toMatchInlineSnapshot(`
      {
        "adamw": 15,
        "block_backward_1": 163,
        "block_forward_1": 40,
        "decode": 58,
        "head_backward": 30,
        "head_forward": 19,
        "head_sample": 27,
        "head_sample_filtered": 41,
      }
    `)
  })
  it('of full-parameter training', () => {
    expect(counts(specOf(qwen2, null))).toMatchInlineSnapshot(`
      {
        "adamw": 15,
        "block_backward_1": 103,
        "block_forward_1": 24,
        "decode": 26,
        "head_backward": 39,
        "head_forward": 19,
        "head_sample": 27,
        "head_sample_filtered": 41,
      }
    `)
  })
})
