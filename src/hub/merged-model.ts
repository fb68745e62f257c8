/** Writes a whole small model with its LoRA merged in, or with all its weights trained, as a folder that transformers loads. */

import { z } from 'zod'
import { type LoraConfig, loraScale } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { layerTensor, modulePath, peftTensor } from '../core/linear-layers'
import type { ExportFile } from '../core/run-record'
import type { WeightSource } from '../core/weights'
import { ADAPTER_WEIGHTS } from './peft-adapter'
import { writeSafetensors } from './safetensors'

/** Largest model that is merged in the browser, which holds it twice: 256 MB as float32. */
export const MOST_MERGED_PARAMETERS = 64e6

export interface MergedModelExport {
  /** The base as it is stored, whatever precision it was trained at. */
  source: WeightSource
  /** null where every weight was trained: the tensors then have the base's own names. */
  lora: LoraConfig | null
  /** As Trainer.exportParameters gives them. */
  tensors: readonly NamedTensor[]
  /** The base's config.json, generation_config.json and tokenizer files, unchanged: they are handed out as they are. */
  files: readonly ExportFile[]
  /** RunConfig.model, for people. */
  baseModel: string
}

/** How to merge with PEFT where there is memory for it. `adapter` is a folder or a repository. */
export function mergeInPython(baseModel: string, adapter: string): string {
  return [
    `model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(${JSON.stringify(baseModel)}), ${JSON.stringify(adapter)})`,
    'model.merge_and_unload().save_pretrained("merged")',
  ].join('\n')
}

/**
 * `files` and model.safetensors: W + s·B·A of every target, all other tensors as they are. Always float32, which loses nothing of what was
 * trained; transformers casts to config.json's dtype when it loads. A tied head is left out, as transformers leaves it out.
 * @throws PlaygroundError('model') for a model that is too large, a LoRA that does not fit it, or a file that is missing; what `source` throws
 */
export async function mergedModelFiles({ source, lora, tensors, files, baseModel }: MergedModelExport): Promise<ExportFile[]> {
  if (!files.some(({ path }) => path === 'config.json')) {
    throw new PlaygroundError('model', `The files of ${baseModel} lack config.json.`, 'Load the model again and export once more.')
  }
  const { tie_word_embeddings: tied } = z.looseObject({ tie_word_embeddings: z.boolean().nullish() }).parse(await source.config())
  const shapes = await source.tensors()
  const names = [...shapes.keys()].filter((name) => !(tied && name === 'lm_head.weight'))
  checkSize(names.reduce((sum, name) => sum + elements(shapes.get(name)), 0), baseModel)
  const updates = lora ? updatesOf(lora, tensors, shapes, baseModel) : new Map<string, Update>()
  const merged = new Map<string, NamedTensor>()
  for (const name of names) merged.set(name, { name, dims: [...(shapes.get(name) ?? [])], data: new Float32Array(elements(shapes.get(name))) })
  for await (const { name, offset, data } of source.pieces(names)) {
    const { data: into } = merged.get(name) as NamedTensor
    into.set(data, offset)
    const update = updates.get(name)
    if (update && lora) addProduct(into, offset, offset + data.length, update, loraScale(lora))
  }
  if (!lora) putWhole(tensors, merged, baseModel)
  return [...files, { path: 'model.safetensors', content: writeSafetensors([...merged.values()]) }]
}

/** Trained weights in the place of the base's. */
function putWhole(tensors: readonly NamedTensor[], merged: ReadonlyMap<string, NamedTensor>, baseModel: string): void {
  for (const { name, dims, data } of tensors) {
    const into = merged.get(name)
    if (into?.dims.join() !== dims.join()) {
      throw new PlaygroundError('model', `${baseModel} has no '${name}' of the shape [${dims.join(', ')}], which was trained.`, 'Export beside the model that the run was trained on.')
    }
    into.data.set(data)
  }
}

const elements = (dims: readonly number[] = []): number => dims.reduce((product, n) => product * n, 1)

function checkSize(parameters: number, baseModel: string): void {
  if (parameters <= MOST_MERGED_PARAMETERS) return
  const [size, most] = [parameters, MOST_MERGED_PARAMETERS].map((n) => `${Math.round(n / 1e6)} million`)
  const message = `${baseModel} has ${size} parameters, and this page merges models of up to ${most}.`
  throw new PlaygroundError('model', message, `Export the adapter instead, and merge it in Python: ${mergeInPython(baseModel, 'adapter')}`)
}

interface Update {
  /** lora_A [r, in]. */
  a: NamedTensor
  /** lora_B [out, r]. */
  b: NamedTensor
}

/** The two sides of every merged matrix by its name in the base, checked against its shape. */
function updatesOf(lora: LoraConfig, tensors: readonly NamedTensor[], shapes: ReadonlyMap<string, readonly number[]>, baseModel: string): Map<string, Update> {
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]))
  const updates = new Map<string, Update>()
  const refuse = (message: string): never => {
    throw new PlaygroundError('model', message, `Merge the adapter into the model that it was trained on.`)
  }
  const layers = tensors.length / (2 * lora.target_modules.length)
  const beyond = layerTensor(layers, 'input_layernorm.weight')
  if (shapes.has(beyond)) refuse(`The LoRA sits on ${layers} layers, but ${baseModel} has more: '${beyond}'.`)
  for (let layer = 0; layer < layers; layer++) {
    for (const target of lora.target_modules) {
      const module = modulePath(target)
      const side = (letter: 'A' | 'B'): NamedTensor => {
        const name = peftTensor(layer, `${module}.lora_${letter}`)
        return byName.get(name) ?? refuse(`${ADAPTER_WEIGHTS} has no '${name}'.`)
      }
      const update = { a: side('A'), b: side('B') }
      const name = layerTensor(layer, `${module}.weight`)
      const [out, input] = shapes.get(name) ?? refuse(`${baseModel} has no '${name}', which the LoRA sits on.`)
      const [a, b] = [update.a, update.b].map(({ dims }) => dims.join(', '))
      if (a !== `${lora.r}, ${input}` || b !== `${out}, ${lora.r}`) {
        refuse(`The LoRA of '${name}' has the shapes [${a}] and [${b}], but r ${lora.r} and the model ask for [${lora.r}, ${input}] and [${out}, ${lora.r}].`)
      }
      updates.set(name, update)
    }
  }
  return updates
}

/** Adds scale·B·A to elements [begin, end), whole rows, of a matrix [out, in]; summed in float64 and rounded once. */
function addProduct(matrix: Float32Array, begin: number, end: number, { a, b }: Update, scale: number): void {
  const [r = 0, input = 0] = a.dims
  const row = new Float64Array(input)
  for (let start = begin; start < end; start += input) {
    row.fill(0)
    for (let k = 0; k < r; k++) {
      const factor = scale * (b.data[(start / input) * r + k] as number)
      for (let j = 0; j < input; j++) row[j] = (row[j] as number) + factor * (a.data[k * input + j] as number)
    }
    for (let j = 0; j < input; j++) matrix[start + j] = (matrix[start + j] as number) + (row[j] as number)
  }
}
