/** Which files of a repository make a model that we can load, and the sentences for repositories that hold something else. */

import { PlaygroundError } from '../core/errors'

/** Small files, read as a whole. False: a model may lack it. */
const SMALL = {
  'config.json': true,
  'generation_config.json': false,
  'tokenizer.json': true,
  'tokenizer_config.json': true,
  'chat_template.jinja': false,
} as const

export type SmallFile = keyof typeof SMALL

const WEIGHTS = 'model.safetensors'
const INDEX = 'model.safetensors.index.json'
const ORIGINAL = 'Choose the repository with the original weights, for example Qwen/Qwen3-0.6B.'

export interface ChosenFiles {
  small: SmallFile[]
  weights: { kind: 'single'; path: string } | { kind: 'sharded'; index: string }
}

/** Chooses among the paths of a repository. Throws PlaygroundError('model') that says what it holds instead, or which file it lacks. */
export function chooseFiles(repo: string, paths: readonly string[]): ChosenFiles {
  const has = new Set(paths)
  const refuse = (what: string, advice: string): never => {
    throw new PlaygroundError('model', `${repo} ${what}.`, advice)
  }
  if (!has.has(WEIGHTS) && !has.has(INDEX)) refuse(...instead(paths))
  const names = Object.keys(SMALL) as SmallFile[]
  const missing = names.find((name) => SMALL[name] && !has.has(name))
  if (missing !== undefined) {
    refuse(`has no ${missing}, without which its weights cannot be used`, `Choose a repository that holds config.json, tokenizer.json and tokenizer_config.json beside ${WEIGHTS}.`)
  }
  return {
    small: names.filter((name) => has.has(name)),
    weights: has.has(WEIGHTS) ? { kind: 'single', path: WEIGHTS } : { kind: 'sharded', index: INDEX },
  }
}

function instead(paths: readonly string[]): [what: string, advice: string] {
  const first = (pattern: RegExp) => paths.find((path) => pattern.test(path))
  if (first(/^adapter_(model\.safetensors|config\.json)$/)) {
    return ['holds a LoRA adapter, not a whole model', "Choose the adapter's base model as the model, and this repository as the adapter to start from."]
  }
  const kinds: [RegExp, string][] = [
    [/\.gguf$/, 'GGUF files'],
    [/\.onnx(_data.*)?$/, 'ONNX files, which can only be run and not trained'],
    [/^(pytorch_model|.*consolidated).*\.(bin|pth?)$/, 'PyTorch .bin files, which can run code when they are opened'],
    [/\.(bin|pth?)$/, 'PyTorch files, which can run code when they are opened'],
    [/\.safetensors$/, `safetensors under other names than ${WEIGHTS}`],
  ]
  for (const [pattern, kind] of kinds) {
    const path = first(pattern)
    if (path !== undefined) return [`has no ${WEIGHTS}: its weights are ${kind} (${path})`, ORIGINAL]
  }
  return [`holds no weights: neither ${WEIGHTS} nor ${INDEX} is among its ${paths.length} files`, ORIGINAL]
}

/** A small file of a model; `what` names it, "config.json of owner/name". Throws PlaygroundError('model'). */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new PlaygroundError('model', `${what} is not JSON.`, 'Choose another model or revision.', { cause })
  }
}
