/** The two models of the comparison as folders that both sides read: the shipped one and a random one of 30 million parameters. */

import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BENCH_MODELS, type BenchModelName } from '../../../src/core/bench-report'
import { writeSafetensors } from '../../../src/hub/safetensors'
import { RANDOM_30M } from '../../../src/worker/bench-engines'
import { shapeSource } from '../../models/shapes'
import { findPython } from '../../tools/prerequisites'
import { projectRoot, runCommand } from '../../tools/run-command'
import type { BenchLog } from '../../tools/bench-rows'
import { ensureVenv } from '../../tools/venv'

export const PEER_MODELS = BENCH_MODELS
export type PeerModel = BenchModelName

const TINY = join(projectRoot, 'public/models/tiny-qwen3')
/** From the repository's root. Under it the dev server gives out the folders, too. */
export const MODELS_FOLDER = '.cache/bench/models'

/** What differs from the shipped model's config.json; the tokenizer is the same. */
const layers = RANDOM_30M.num_hidden_layers
const RANDOM = { ...RANDOM_30M, max_window_layers: layers, layer_types: Array.from({ length: layers }, () => 'full_attention') }

export const modelFolder = (model: PeerModel): string => join(projectRoot, MODELS_FOLDER, model)

/** Makes the folder if it is not there yet: config, weights, tokenizer. The random one is the same on every machine. */
export async function makeModel(model: PeerModel): Promise<string> {
  const folder = modelFolder(model)
  const stamp = join(folder, 'made.sha256')
  const shipped = JSON.parse(readFileSync(join(TINY, 'config.json'), 'utf8')) as Record<string, unknown>
  const config = { ...shipped, ...(model === 'random-30m' ? RANDOM : {}) }
  const wanted = digest(JSON.stringify(config), ...tinyFiles.map((name) => readFileSync(join(TINY, name))))
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of tinyFiles) cpSync(join(TINY, name), join(folder, name))
  if (model === 'random-30m') {
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config, null, 2))
    writeFileSync(join(folder, 'model.safetensors'), await randomWeights(config))
  }
  writeFileSync(stamp, wanted)
  return folder
}

const tinyFiles = ['config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json']

async function randomWeights(config: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
  const source = shapeSource(config)
  const dims = await source.tensors()
  const tensors = new Map([...dims].map(([name, shape]) => [name, { name, dims: [...shape], data: new Float32Array(shape.reduce((n, d) => n * d, 1)) }]))
  for await (const { name, offset, data } of source.pieces([...dims.keys()])) tensors.get(name)?.data.set(data, offset)
  return writeSafetensors([...tensors.values()])
}

/** The model as transformers.js reads it, float32 with a KV cache: made by optimum if it is not there yet. */
export async function exportModel(model: PeerModel, log: BenchLog): Promise<void> {
  const folder = await makeModel(model)
  const script = join(projectRoot, 'e2e/bench/peers/export_onnx.py')
  const stamp = join(folder, 'onnx', 'exported.sha256')
  const causes = [join(folder, 'model.safetensors'), script, join(projectRoot, 'e2e/bench/requirements-optimum.txt')]
  const wanted = digest(...causes.map((path) => readFileSync(path)))
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  if ((await findPython()) === null) throw new Error('No Python 3.10 or newer: the model cannot be exported for transformers.js.')
  const python = await ensureVenv('optimum')
  log(`exporting ${model} to ONNX`)
  const status = await runCommand(python, [script, folder], { output: 'stderr', timeoutMs: 5 * 60_000 })
  if (status !== 0) throw new Error(`The export of ${model} to ONNX ended with status ${status}.`)
  writeFileSync(stamp, wanted)
}

function digest(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
