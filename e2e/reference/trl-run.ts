/** Runs as the page keeps them, the folder that goes on in TRL on disk, and TRL itself running it. */

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { parquetReadObjects } from 'hyparquet'
import type { GrpoConfig, RunConfig } from '../../src/core/config'
import type { Environment } from '../../src/core/environment'
import type { ExportFile, RunRecord } from '../../src/core/run-record'
import type { ToolCall } from '../../src/core/tools'
import type { BuiltinName } from '../../src/env/builtin'
import { presetById, presetConfig } from '../../src/env/presets'
import { readSafetensors } from '../../src/hub/safetensors'
import { memberFacts } from '../../src/worker/run-messages'
import { projectRoot } from '../tools/run-command'
import { venvPython } from '../tools/venv'
import { REFERENCE } from './reference'

/** A run of a preset in this environment (connected), after three steps. */
export function recordOf(id: BuiltinName, environment: Environment, change: Partial<RunConfig> = {}, grpo: Partial<GrpoConfig> = {}): RunRecord {
  const preset = presetConfig(presetById(id))
  const config: RunConfig = { ...preset, ...change, grpo: { ...preset.grpo, ...grpo } }
  const { name, tools, prompts, discovered, members, dataset } = environment
  return {
    id: 'r1',
    name: `Run of ${id}`,
    notes: '',
    createdAt: 0,
    updatedAt: 0,
    config,
    modelSha: null,
    lora: config.lora,
    engine: { backend: 'wasm', device: '1', threads: 1, model: config.model, parameters: 1, trainable: 1, vocabSize: 1024, ortVersion: '' },
    environment: { name, tools: [...tools], prompts, discovered: discovered ?? null, ...(dataset && { dataset }), ...(members && { members: members.map(memberFacts) }) },
    step: 3,
    checkpoint: 3,
    finished: false,
    evaluations: [],
    bytes: 0,
    droppedSteps: 0,
    version: '0.1.0',
  }
}

/** The shipped model's files, as the page hands them over. */
export function tinyModelFiles(): ExportFile[] {
  const names = ['config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json']
  return names.map((path) => ({ path, content: new Uint8Array(readFileSync(join(projectRoot, 'public/models/tiny-qwen3', path))) }))
}

/** Writes files into an empty folder. */
export function writeFolder(folder: string, files: readonly ExportFile[]): void {
  rmSync(folder, { recursive: true, force: true })
  for (const { path, content } of files) {
    if (content instanceof Blob) throw new Error(`${path} is a Blob`)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** A row of TRL's log of completions. */
export interface Completion {
  prompt: { role: string; content: string }[]
  completion: { role: string; content: string; tool_calls: { function: ToolCall }[] | null }[]
  environment_reward: number
}

/** Runs the folder's train.py into .cache/reference/trl-move/OUT; asynchronously, as the page's client must answer a server's pings meanwhile. */
export async function trainInTrl(folder: string, out: string, args: readonly string[]): Promise<void> {
  const place = emptyPlace(out)
  await python([join(folder, 'train.py'), ...args, '--output-dir', place])
}

/** The LoRA weights at the moment before training, [name, values]: '….default.weight' is the policy, '….ref.weight' what the KL term compares with. */
export async function startInTrl(folder: string, out: string): Promise<ReadonlyMap<string, Float32Array>> {
  const place = emptyPlace(out)
  await python([join(projectRoot, 'e2e/reference/trl_start.py'), folder, place])
  const { tensors } = readSafetensors(readFileSync(join(place, 'start.safetensors')))
  return new Map([...tensors].map(([name, { data }]) => [name, data]))
}

function emptyPlace(out: string): string {
  const place = join(REFERENCE, 'trl-move', out)
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  return place
}

async function python(args: readonly string[]): Promise<void> {
  const env = { ...process.env, HF_HUB_OFFLINE: '1', OMP_NUM_THREADS: '1', OMP_WAIT_POLICY: 'PASSIVE', TRL_EXPERIMENTAL_SILENCE: '1' }
  await promisify(execFile)(venvPython('reference'), [...args], { env, maxBuffer: 2 ** 27 })
}

/** What TRL logged. */
export function logs(out: string): Record<string, number>[] {
  const state = readFileSync(join(REFERENCE, 'trl-move', out, 'trainer_state.json'), 'utf8')
  return (JSON.parse(state) as { log_history: Record<string, number>[] }).log_history
}

/** TRL's log of a step's completions. */
export async function completions(out: string, step: number): Promise<Completion[]> {
  const file = readFileSync(join(REFERENCE, 'trl-move', out, 'completions', `completions_0000${step}.parquet`))
  return (await parquetReadObjects({ file: file.buffer.slice(file.byteOffset, file.byteOffset + file.length) })) as unknown as Completion[]
}
