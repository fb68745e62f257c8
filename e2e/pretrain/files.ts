/** Writes the files of the tiny model that need no training: tokenizer and configuration. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONTEXT_LENGTH, GENERATION_CONFIG, MODEL_CONFIG } from './model-config'
import { learnMerges, tokenizerConfig, tokenizerJson } from './tokenizer'

/** File names → their text; the same bytes each time. */
export function modelFiles(): Record<string, string> {
  const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
  return {
    'tokenizer.json': text(tokenizerJson(learnMerges())),
    'tokenizer_config.json': text(tokenizerConfig(CONTEXT_LENGTH)),
    'config.json': text(MODEL_CONFIG),
    'generation_config.json': text(GENERATION_CONFIG),
  }
}

/** Writes them into a folder, which is made if need be. */
export async function writeModelFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, content] of Object.entries(modelFiles())) await writeFile(join(folder, name), content)
}
