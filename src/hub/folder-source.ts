/** A model folder on a web server (config.json and model.safetensors) as a WeightSource. */

import { PlaygroundError } from '../core/errors'
import type { WeightPiece, WeightSource } from '../core/weights'
import { memoryBytes } from './memory-source'
import { SafetensorsSource } from './safetensors-source'

export interface FolderSourceOptions {
  /** Bytes of model.safetensors so far, and of the whole file where the server says so. */
  onProgress?: (loaded: number, total: number | null) => void
  /** Stops a download; pending calls then reject with PlaygroundError('stopped'). */
  signal?: AbortSignal
  /** The page's fetch unless a test brings its own. */
  fetch?: typeof fetch
}

const NOT_HERE = 'Check that the folder holds config.json and model.safetensors and that the address is right.'
const ANSWERED_PAGE = 'The server answers unknown paths with its start page: check the address of the model folder.'

/** Fetches each file once, when first needed; a failed download is tried again at the next call. */
export class FolderSource implements WeightSource {
  private readonly base: string
  private configuration: Promise<unknown> | null = null
  private readonly weights: SafetensorsSource

  /** @param base address of the folder, with or without the last slash; relative ones count from the page */
  constructor(
    base: string,
    private readonly options: FolderSourceOptions = {},
  ) {
    this.base = base.replace(/\/+$/, '')
    const url = `${this.base}/model.safetensors`
    const files = async () => [memoryBytes(url, await this.loadWeights(url))]
    this.weights = new SafetensorsSource({ config: () => this.config(), files, name: url })
  }

  /** @throws PlaygroundError('model') when config.json is missing, is a page or is not JSON; 'stopped' after an abort */
  config(): Promise<unknown> {
    this.configuration ??= this.load('config.json').catch((error: unknown) => {
      this.configuration = null
      throw error
    })
    return this.configuration
  }

  /**
   * Another JSON file of the folder.
   * @throws as config
   */
  json(file: string): Promise<unknown> {
    return this.load(file)
  }

  /** @throws PlaygroundError('model') when model.safetensors is missing or damaged, 'memory' when it does not fit */
  tensors(): Promise<ReadonlyMap<string, readonly number[]>> {
    return this.weights.tensors()
  }

  /** @throws PlaygroundError('model') when a name is missing, and all that `tensors` throws */
  pieces(wanted: readonly string[]): AsyncGenerator<WeightPiece> {
    return this.weights.pieces(wanted)
  }

  private async load(file: string): Promise<unknown> {
    const url = `${this.base}/${file}`
    const response = await this.get(url)
    const text = await response.text().catch((error: unknown) => this.broken(url, error))
    if (text.trimStart().startsWith('<')) throw new PlaygroundError('model', `${url} is a web page, not JSON.`, ANSWERED_PAGE)
    try {
      return JSON.parse(text) as unknown
    } catch (cause) {
      throw new PlaygroundError('model', `${url} is not JSON.`, 'Save the model again.', { cause })
    }
  }

  private async loadWeights(url: string): Promise<Uint8Array> {
    const response = await this.get(url)
    if (response.headers.get('content-type')?.startsWith('text/html')) {
      await response.body?.cancel()
      throw new PlaygroundError('model', `${url} is a web page, not weights.`, ANSWERED_PAGE)
    }
    return this.download(url, response)
  }

  private async get(url: string): Promise<Response> {
    const { signal, fetch: load = fetch } = this.options
    const response = await load(url, signal ? { signal } : {}).catch((error: unknown) => this.broken(url, error))
    if (!response.ok) {
      const what = response.status === 404 ? 'was not found (404)' : `was refused by its server (${response.status} ${response.statusText})`
      throw new PlaygroundError('model', `${url} ${what}.`, NOT_HERE)
    }
    return response
  }

  /** Reads the body into one array, sized by Content-Length where it can be believed. */
  private async download(url: string, response: Response): Promise<Uint8Array> {
    // With a Content-Encoding the length is that of the packed bytes.
    const announced = response.headers.has('content-encoding') ? 0 : Number(response.headers.get('content-length') ?? 0)
    const total = announced > 0 ? announced : null
    let bytes = allocate(url, total ?? 1 << 20)
    let loaded = 0
    this.options.onProgress?.(0, total)
    const reader = response.body?.getReader()
    while (reader) {
      const { done, value } = await reader.read().catch((error: unknown) => this.broken(url, error))
      if (done) break
      if (loaded + value.length > bytes.length) {
        const wider = allocate(url, Math.max(loaded + value.length, bytes.length * 2))
        wider.set(bytes.subarray(0, loaded))
        bytes = wider
      }
      bytes.set(value, loaded)
      loaded += value.length
      this.options.onProgress?.(loaded, total)
    }
    return bytes.subarray(0, loaded)
  }

  private broken(url: string, cause: unknown): never {
    if (this.options.signal?.aborted) throw new PlaygroundError('stopped', `The download of ${url} was stopped.`, '', { cause })
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new PlaygroundError('model', `${url} could not be downloaded (${reason}).`, 'Check the connection and load the model again.', {
      cause,
    })
  }
}

function allocate(url: string, bytes: number): Uint8Array {
  try {
    return new Uint8Array(bytes)
  } catch (cause) {
    const size = `${(bytes / 1e6).toFixed(0)} MB`
    throw new PlaygroundError('memory', `The browser refused ${size} for ${url}.`, 'Close other tabs or take a smaller model.', { cause })
  }
}
