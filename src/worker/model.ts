/** Loads what a run needs of a model folder: weights, tokenizer, chat format. Paths are under the site's root. */

import type { WeightSource } from '../core/weights'
import { PlaygroundError } from '../core/errors'
import { FolderSource } from '../hub/folder-source'
import { ChatFormat } from '../rollout/chat'
import type { ChatTokenizer } from '../rollout/tokens'

export interface LoadedFolder {
  source: WeightSource
  tokenizer: ChatTokenizer
}

export type LoadProgress = (what: string, done: number, total: number | null) => void

/** The site's root: in a build the worker stands in assets/, in development somewhere under /src. */
function siteRoot(): string {
  return new URL(import.meta.env.DEV ? '/' : '../', self.location.href).href
}

/** Throws PlaygroundError('model') with what is missing. */
export async function loadFolder(model: string, onProgress: LoadProgress): Promise<LoadedFolder> {
  const base = new URL(`${model.replace(/\/+$/, '')}/`, siteRoot()).href
  const source = new FolderSource(base, { onProgress: (loaded, total) => onProgress('model.safetensors', loaded, total) })
  // First what says in plain words that the folder is missing.
  await source.config()
  onProgress('tokenizer', 0, null)
  const { AutoTokenizer, env } = await import('@huggingface/transformers')
  env.allowRemoteModels = false
  env.allowLocalModels = true
  env.useBrowserCache = false
  // transformers.js takes a folder's parent and its name apart.
  env.localModelPath = new URL('..', base).pathname
  try {
    const name = new URL(base).pathname.split('/').at(-2) ?? ''
    const tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true })
    // transformers.js' declaration hides the parts of a tokenizer that ChatFormat uses; ChatFormat checks them itself.
    return { source, tokenizer: tokenizer as unknown as ChatTokenizer }
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause)
    const advice = 'Check that the folder holds tokenizer.json and tokenizer_config.json.'
    throw new PlaygroundError('model', `The tokenizer of ${model} could not be read: ${text}`, advice, { cause })
  }
}

export function chatFormat({ tokenizer }: LoadedFolder, enable_thinking: boolean): ChatFormat {
  return new ChatFormat(tokenizer, { enable_thinking })
}
