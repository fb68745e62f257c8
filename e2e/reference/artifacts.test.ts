/** Every training artifact of every reference model and LoRA passes onnx's own checker, and is the same bytes each time. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildAll, buildArtifact } from '../../src/artifacts/build'
import { artifactNames, type ArtifactSpec } from '../../src/artifacts/spec'
import type { LoraConfig } from '../../src/core/config'
import { toOnnx } from '../../src/graph/onnx'
import { parseModelConfig } from '../../src/model/config'
import { venvPython } from '../tools/venv'
import { REFERENCE, ROOT, referenceJson } from './reference'

const { models } = referenceJson<{ models: string[] }>('manifest.json')
const folder = join(REFERENCE, 'artifacts')

const loras: Record<string, LoraConfig | null> = {
  all: {
    r: 4,
    lora_alpha: 8,
    use_rslora: false,
    target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
  },
  qv: { r: 4, lora_alpha: 8, use_rslora: true, target_modules: ['q_proj', 'v_proj'] },
  none: null,
}

/** onnx's verdict on every .onnx file under a folder: null, or what it says against it. */
function check(place: string): Record<string, string | null> {
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 } as const
  return JSON.parse(execFileSync(venvPython('reference'), ['e2e/reference/check_onnx.py', place], options)) as Record<string, string | null>
}

it('onnx accepts every artifact', async () => {
  rmSync(folder, { recursive: true, force: true })
  const written: string[] = []
  for (const model of models) {
    const config = parseModelConfig(referenceJson(`models/${model}/config.json`))
    for (const [name, lora] of Object.entries(loras)) {
      const spec: ArtifactSpec = { config, lora, precision: 'float32' }
      const { files, manifest } = await buildAll(spec, 'test')
      expect((await buildAll(spec, 'test')).manifest).toEqual(manifest)
      expect(files.size).toBe(artifactNames(spec).length)
      const place = join(folder, model, name)
      mkdirSync(place, { recursive: true })
      for (const [file, bytes] of files) {
        writeFileSync(join(place, file), bytes)
        written.push(join(place, file))
      }
    }
  }
  const verdicts = check(folder)
  expect(Object.keys(verdicts).sort()).toEqual(written.sort())
  expect(Object.entries(verdicts).filter(([, error]) => error !== null)).toEqual([])
})

it('onnx refuses an artifact with a misspelt operator', () => {
  const config = parseModelConfig(referenceJson('models/qwen3-tied/config.json'))
  const bytes = Buffer.from(toOnnx(buildArtifact({ config, lora: null, precision: 'float32' }, 'block_forward_1')))
  const at = bytes.indexOf('Softmax')
  expect(at).toBeGreaterThan(0)
  bytes.write('Softmix', at)
  const place = join(REFERENCE, 'damaged')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'block.onnx'), bytes)
  expect(Object.values(check(place))).toEqual([expect.stringContaining('Softmix')])
})
