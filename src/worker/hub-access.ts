/** The worker's way to the Hub: the client with the person's token, the store of downloaded models, the adapters that the page gave. */

import type { AdapterSource } from '../core/config'
import { PlaygroundError } from '../core/errors'
import { latePart } from '../core/late-part'
import { checkToken } from '../hub/check-token'
import { HubClient } from '../hub/client'
import { browserModelStore, type ModelStore } from '../hub/model-store'
import type { PeftAdapter } from '../hub/peft-adapter'
import type { ModelConfig } from '../model/config'

const adapters = () => latePart(() => import('../hub/peft-adapter'))

interface AdapterFiles {
  config: string
  weights: Uint8Array
}

export class HubAccess {
  readonly client: HubClient
  private token: string | null = null
  private readonly files = new Map<string, AdapterFiles>()
  private opened: Promise<ModelStore> | null = null

  /** @param endpoint of a server that speaks the Hub's API; the Hub itself when undefined */
  constructor(endpoint: string | undefined, private readonly openStore: () => Promise<ModelStore> = browserModelStore) {
    this.client = new HubClient({ ...(endpoint ? { endpoint } : {}), token: () => this.token })
  }

  store(): Promise<ModelStore> {
    return (this.opened ??= this.openStore())
  }

  /** Kept in memory alone. Throws PlaygroundError('config') for what is no token. */
  setToken(token: string | null): void {
    this.token = checkToken(token)
  }

  /** What an environment needs that is a Space: the Hub's endpoint and the token as it is then. */
  forSpaces(): { hub: string; token: () => string | null } {
    return { hub: this.client.endpoint, token: () => this.token }
  }

  /** What an upload needs: the endpoint, and the token as it is then. */
  forPublishing(): { endpoint: string; token: () => string | null } {
    return { endpoint: this.client.endpoint, token: () => this.token }
  }

  giveAdapter(name: string, config: string, weights: ArrayBuffer): void {
    this.files.set(name, { config, weights: new Uint8Array(weights) })
  }

  /** The adapter for a base of this shape. Throws PlaygroundError with what does not fit. */
  async adapter(source: AdapterSource, base: ModelConfig, signal: AbortSignal): Promise<PeftAdapter> {
    const { loadHubAdapter, readPeftAdapter } = await adapters()
    if (source.kind === 'hub') return loadHubAdapter(this.client, source.repo, source.revision, { base, signal })
    const { config, weights } = this.filesOf(source.name)
    return readPeftAdapter(config, weights, base)
  }

  /** What the adapter's config says of it; of one on the Hub nothing else is downloaded. */
  async adapterConfig(source: AdapterSource): Promise<Pick<PeftAdapter, 'lora' | 'baseModel'>> {
    const { findHubAdapter, readPeftConfig } = await adapters()
    if (source.kind === 'hub') return readPeftConfig((await findHubAdapter(this.client, source.repo, source.revision)).config)
    return readPeftConfig(this.filesOf(source.name).config)
  }

  private filesOf(name: string): { config: unknown; weights: Uint8Array } {
    const files = this.files.get(name)
    if (!files) throw new PlaygroundError('config', `The files of the adapter ${name} are not here any more.`, 'Choose them again, or start from a fresh LoRA.')
    try {
      return { config: JSON.parse(files.config) as unknown, weights: files.weights }
    } catch (cause) {
      throw new PlaygroundError('config', `adapter_config.json of ${name} is not JSON.`, 'Choose the file that PEFT saved.', { cause })
    }
  }
}
