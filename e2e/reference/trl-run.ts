/** Runs as the page keeps them, for the checks of the folder that goes on in TRL, and the folder on disk. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { GrpoConfig, RunConfig } from '../../src/core/config'
import type { Environment } from '../../src/core/environment'
import type { ExportFile, RunRecord } from '../../src/core/run-record'
import { presetById, presetConfig } from '../../src/env/presets'
import { projectRoot } from '../tools/run-command'

/** A run of a preset in this environment (connected), after three steps. */
export function recordOf(id: 'lane' | 'catch' | 'echo', environment: Environment, change: Partial<RunConfig> = {}, grpo: Partial<GrpoConfig> = {}): RunRecord {
  const preset = presetConfig(presetById(id))
  const config: RunConfig = { ...preset, ...change, grpo: { ...preset.grpo, ...grpo } }
  const { name, tools, prompts, discovered } = environment
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
    environment: { name, tools: [...tools], prompts, discovered: discovered ?? null },
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
