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
    const config = parseJson(opened.files.tokenizer_config, `tokenizer_config.json of ${repo}`) as Record<string, unknown>
    // The template of newer repositories stands in a file of its own, which wins as in transformers.
    if (opened.files.chat_template !== null) config.chat_template = opened.files.chat_template
    const tokenizer = await tokenizerOf(parseJson(opened.files.tokenizer, `tokenizer.json of ${repo}`) as object, config)
    return { source: opened.source, tokenizer, sha: opened.sha, close: () => opened.close() }
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

const library = () => import('@huggingface/transformers')

/** Of tokenizer.json and tokenizer_config.json. Throws where they are not such files, and PlaygroundError where transformers.js cannot be fetched. */
async function tokenizerOf(tokenizer: object, config: Record<string, unknown>): Promise<ChatTokenizer> {
  const { PreTrainedTokenizer } = await library().catch((cause: unknown) => {
    throw new PlaygroundError('model', 'The page’s tokenizer library could not be fetched from its site.', 'Check the connection, then press Reset; if it happens again, reload the page.', { cause })
  })
  return new PreTrainedTokenizer(tokenizer, config)
}

async function loadFolder(model: string, { onProgress, signal }: ModelCallbacks): Promise<LoadedModel> {
  const given = new AbortController()
  const either = AbortSignal.any([signal, given.signal])
  const source = new FolderSource(folderAddress(model), { signal: either, onProgress: (done, total) => onProgress({ what: 'model.safetensors', done, total }) })
  // Begins to come beside the files.
  library().catch(() => undefined)
  // First what says in plain words that the folder is missing.
  await source.config()
  onProgress({ what: 'tokenizer', done: 0, total: null })
  const files = Promise.all([source.json('tokenizer.json'), source.json('tokenizer_config.json')])
  // Meanwhile the weights come; whoever reads them hears what is wrong with them.
  source.tensors().catch(() => undefined)
  try {
    const [tokenizer, config] = (await files) as [object, Record<string, unknown>]
    return { source, tokenizer: await tokenizerOf(tokenizer, config), sha: null, close: () => Promise.resolve() }
  } catch (cause) {
    given.abort()
    if (signal.aborted) throw cause
    throw unreadableTokenizer(model, cause)
  }
}

function unreadableTokenizer(model: string, cause: unknown): PlaygroundError {
  if (cause instanceof PlaygroundError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  const advice = 'Check that it has a tokenizer.json and a tokenizer_config.json that transformers.js reads.'
  return new PlaygroundError('model', `The tokenizer of ${model} could not be read: ${text}`, advice, { cause })
}

export function chatFormat({ tokenizer }: Pick<LoadedModel, 'tokenizer'>, enable_thinking: boolean): ChatFormat {
  return new ChatFormat(tokenizer, { enable_thinking })
}
