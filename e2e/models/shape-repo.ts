/** A Hub repository of a real shape: config.json and a bf16 safetensors file with random weights, made as it is read. */

import { createHash } from 'node:crypto'
import { parseModelConfig } from '../../src/model/config'
import { elements } from '../../src/model/parameters'
import { baseTensors } from '../../src/runtime/weights'
import type { GeneratedFile, RepoFiles } from '../hub/server'
import { randomValues, repeat } from './shapes'

/** 1 as bf16, little-endian. */
const ONE = [0x80, 0x3f] as const
const CHUNK = 4 << 20

/** A tensor's place: bytes [begin, end) of the file. */
interface Placed {
  begin: number
  end: number
  ones: boolean
}

/** Files of the repository. A tied head is stored a second time, as Qwen3-0.6B's file has it: readers must leave it. */
export function shapeRepository(config: Readonly<Record<string, unknown>>): RepoFiles {
  return {
    'config.json': JSON.stringify(config),
    'tokenizer.json': '{"model":{}}',
    'tokenizer_config.json': '{}',
    'model.safetensors': shapeSafetensors(config),
  }
}

/** The weights. Its sha256 is computed at once, by making every byte: seconds for a large model. */
export function shapeSafetensors(config: Readonly<Record<string, unknown>>): GeneratedFile {
  const parsed = parseModelConfig(config)
  const base = new Map(baseTensors(parsed).map(({ name, dims }) => [name, dims]))
  const head = base.get('model.embed_tokens.weight')
  if (parsed.tie_word_embeddings && head) base.set('lm_head.weight', head)
  const names = [...base.keys()].sort()
  let at = 0
  const entries = names.map((name) => {
    const dims = base.get(name) as number[]
    const begin = at
    at += elements(dims) * 2
    return { name, dims, begin, end: at }
  })
  const json = JSON.stringify({
    __metadata__: { format: 'pt' },
    ...Object.fromEntries(entries.map(({ name, dims, begin, end }) => [name, { dtype: 'BF16', shape: dims, data_offsets: [begin, end] }])),
  })
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8))
  const header = new Uint8Array(8 + text.length)
  new DataView(header.buffer).setBigUint64(0, BigInt(text.length), true)
  header.set(text, 8)
  const tensors = entries.map(({ name, begin, end }) => ({ begin: header.length + begin, end: header.length + end, ones: name.endsWith('norm.weight') }))
  const read = reader(header, tensors)
  const size = header.length + at
  const hash = createHash('sha256')
  for (let from = 0; from < size; from += CHUNK) hash.update(read(from, Math.min(size, from + CHUNK)))
  return { size, read, sha256: hash.digest('hex') }
}

function reader(header: Uint8Array, tensors: readonly Placed[]): (begin: number, end: number) => Uint8Array {
  const bits = new Uint32Array(randomValues().buffer)
  const values = new Uint8Array(Uint16Array.from(bits, (b) => b >>> 16).buffer)
  return (begin, end) => {
    const out = new Uint8Array(end - begin)
    out.set(header.subarray(begin, Math.max(begin, Math.min(end, header.length))))
    for (const tensor of tensors) {
      const [from, to] = [Math.max(begin, tensor.begin), Math.min(end, tensor.end)]
      if (from >= to) continue
      const part = out.subarray(from - begin, to - begin)
      if (tensor.ones) part.forEach((_, i) => (part[i] = ONE[(from + i - tensor.begin) % 2] as number))
      // Header and tensors begin at even bytes.
      else repeat(values, from - header.length, part)
    }
    return out
  }
}
