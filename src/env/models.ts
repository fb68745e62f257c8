/** The models that a person can pick without typing: the two that are shipped and four of the Hub, with what they weigh. */

import { TINY_MODEL, TINY_NUMBERS_MODEL } from './presets'

export interface CuratedModel {
  /** RunConfig.model: a folder of this site or a repository on the Hub. */
  model: string
  title: string
  parameters: number
  /** Bytes of weights that loading it downloads at most, a duplicate of a tied head left out; 0 = comes with the page. */
  downloadBytes: number
}

const hub = (model: string, parameters: number, downloadBytes: number): CuratedModel => ({
  model,
  title: model.split('/').at(-1) ?? model,
  parameters,
  downloadBytes,
})

/** Smallest first. The Hub's are bfloat16: two bytes a parameter. */
export const CURATED_MODELS: readonly CuratedModel[] = [
  { model: TINY_MODEL, title: 'tiny-qwen3', parameters: 492_640, downloadBytes: 0 },
  { model: TINY_NUMBERS_MODEL, title: 'tiny-qwen3-numbers', parameters: 492_640, downloadBytes: 0 },
  hub('Qwen/Qwen2.5-0.5B-Instruct', 494_032_768, 988_065_536),
  hub('Qwen/Qwen3-0.6B', 596_049_920, 1_192_099_840),
  hub('Qwen/Qwen2.5-1.5B-Instruct', 1_543_714_304, 3_087_428_608),
  hub('Qwen/Qwen3-1.7B', 1_720_574_976, 3_441_149_952),
]

/** Whether RunConfig.model names a repository on the Hub; else it is a folder of this site (the Hub has no owner called models). */
export function isHubModel(model: string): boolean {
  return !model.startsWith('models/')
}
