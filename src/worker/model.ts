/** Loads what a run needs of a model, from a folder of this site or from the Hub: weights to be streamed, tokenizer, chat format. */

import type { RunConfig } from '../core/config'
import { PlaygroundError } from '../core/errors'
import type { LoadProgress } from '../core/events'
import type { WeightSource } from '../core/weights'
import { isHubModel } from '../env/models'
import { FolderSource } from '../hub/folder-source'
import { parseJson } from '../hub/model-files'
import { openHubModel } from '../hub/open-model'
import { ChatFormat } from '../rollout/chat'
import type { ChatTokenizer } from '../rollout/tokens'
import type { HubAccess } from './hub-access'

export interface LoadedModel {
  source: WeightSource
  tokenizer: ChatTokenizer
  /** The Hub's commit; null for a folder of this site. */
  sha: string | null
  /** Call it when the weights have been read: the stored files are another tab's to use then. */
  close(): Promise<void>
}

export interface ModelCallbacks {
  onProgress: (progress: LoadProgress) => void
  /** A sentence that a person should read; `passing` when it means nothing any more once the model is there. */
  onNotice: (sentence: string, passing?: boolean) => void
  signal: AbortSignal
}

/** Throws PlaygroundError('model') with what is missing or refused, 'stopped' on the signal. */
export async function loadModel({ model, model_revision }: Pick<RunConfig, 'model' | 'model_revision'>, hub: HubAccess, callbacks: ModelCallbacks): Promise<LoadedModel> {
  return isHubModel(model) ? loadHubModel(model, model_revision, hub, callbacks) : loadFolder(model, callbacks)
}

async function loadHubModel(repo: string, revision: string, hub: HubAccess, { onProgress, onNotice, signal }: ModelCallbacks): Promise<LoadedModel> {
  onProgress({ what: 'tokenizer', done: 0, total: null })
  const onRetry = ({ seconds, reason }: { seconds: number; reason: string }): void => {
    if (seconds >= NOTED_WAIT) onNotice(`${repo}: ${reason}. It is tried again in ${Math.round(seconds)} s.`, true)
  }
  const opened = await openHubModel({ client: hub.client, repo, revision, store: await hub.store(), signal, onProgress, onNotice: (sentence) => onNotice(sentence), onRetry })
  try {
    const { PreTrainedTokenizer } = await import('@huggingface/transformers')
    const config = parseJson(opened.files.tokenizer_config, `tokenizer_config.json of ${repo}`) as Record<string, unknown>
    // The template of newer repositories stands in a file of its own, which wins as in transformers.
    if (opened.files.chat_template !== null) config.chat_template = opened.files.chat_template
    const tokenizer = new PreTrainedTokenizer(parseJson(opened.files.tokenizer, `tokenizer.json of ${repo}`), config)
    return { source: opened.source, tokenizer: tokenizer as unknown as ChatTokenizer, sha: opened.sha, close: () => opened.close() }
  } catch (cause) {
    await opened.close()
    if (cause instanceof PlaygroundError) throw cause
    throw unreadableTokenizer(repo, cause)
  }
}

/** Shorter waits for the network are not worth a notice, s. */
const NOTED_WAIT = 5

/** The site's root: in a build the worker stands in assets/, in development somewhere under /src. */
function siteRoot(): string {
  return new URL(import.meta.env.DEV ? '/' : '../', self.location.href).href
}

/** config.json of a folder of this site. Throws PlaygroundError('model') when there is none. */
export function siteConfig(model: string): Promise<unknown> {
  return new FolderSource(folderAddress(model)).config()
}

/** Where a folder of this site lies; ends in a slash. */
export const folderAddress = (model: string): string => new URL(`${model.replace(/\/+$/, '')}/`, siteRoot()).href

async function loadFolder(model: string, { onProgress, signal }: ModelCallbacks): Promise<LoadedModel> {
  const base = folderAddress(model)
  const source = new FolderSource(base, { signal, onProgress: (done, total) => onProgress({ what: 'model.safetensors', done, total }) })
  // First what says in plain words that the folder is missing.
  await source.config()
  onProgress({ what: 'tokenizer', done: 0, total: null })
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
    return { source, tokenizer: tokenizer as unknown as ChatTokenizer, sha: null, close: () => Promise.resolve() }
  } catch (cause) {
    throw unreadableTokenizer(model, cause)
  }
}

function unreadableTokenizer(model: string, cause: unknown): PlaygroundError {
  const text = cause instanceof Error ? cause.message : String(cause)
  const advice = 'Check that it has a tokenizer.json and a tokenizer_config.json that transformers.js reads.'
  return new PlaygroundError('model', `The tokenizer of ${model} could not be read: ${text}`, advice, { cause })
}

export function chatFormat({ tokenizer }: Pick<LoadedModel, 'tokenizer'>, enable_thinking: boolean): ChatFormat {
  return new ChatFormat(tokenizer, { enable_thinking })
}
