/** Answers the page's questions about models without disturbing the run: look up, list, delete, token, adapter files. */

import { type RunConfig, trainedLora } from '../core/config'
import { describeError, PlaygroundError } from '../core/errors'
import { isHubModel } from '../env/models'
import { readAll } from '../hub/bytes'
import { CachedBytes } from '../hub/cached-bytes'
import type { HubRepo } from '../hub/client'
import { chooseFiles, parseJson } from '../hub/model-files'
import { type ModelConfig, parseModelConfig } from '../model/config'
import { countParameters } from '../model/parameters'
import { chooseBackend, probeDevice } from '../runtime/capabilities'
import { judge } from '../runtime/verdict'
import { baseTensors, checkBlocks } from '../runtime/weights'
import type { HubAccess } from './hub-access'
import type { Command, Inspection, Message } from './protocol'
import { OBSERVATION_ROOM } from './environment-of'

/** Characters of a prompt that make a token, and tokens of tools and template; the tokenizer is not here yet. */
const CHARACTERS_A_TOKEN = 3
const TOOLS_AND_TEMPLATE = 300
/** Header and the first megabyte, which is read whole. */
const WITH_HEADER = 1.001

type DeskCommand = Extract<Command, { type: 'token' | 'inspect' | 'list-stored' | 'delete-stored' | 'give-adapter' }>

export const isForDesk = (command: Command): command is DeskCommand =>
  ['token', 'inspect', 'list-stored', 'delete-stored', 'give-adapter'].includes(command.type)

interface Found {
  config: ModelConfig
  sha: string
  /** All that loading reads, and what of it is here. */
  total: number
  stored: number
}

export class ModelDesk {
  constructor(
    private readonly hub: HubAccess,
    private readonly post: (message: Message) => void,
    /** config.json of a folder of this site. */
    private readonly siteConfig: (model: string) => Promise<unknown>,
  ) {}

  /** Takes a command; never throws: failures become messages. */
  handle(command: DeskCommand): void {
    switch (command.type) {
      case 'token':
        return this.attempt(() => this.hub.setToken(command.token))
      case 'give-adapter':
        return this.hub.giveAdapter(command.name, command.config, command.weights)
      case 'inspect':
        return void this.inspect(command.requestId, command.config)
      case 'list-stored':
        return void this.list()
      case 'delete-stored':
        return void this.delete(command.key)
    }
  }

  private attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.complain(error)
    }
  }

  private complain(error: unknown): void {
    this.post({ type: 'event', event: { type: 'notice', level: 'warning', text: describeError(error) } })
  }

  private async inspect(requestId: number, config: RunConfig): Promise<void> {
    try {
      this.post({ type: 'inspection', requestId, result: { ok: true, inspection: await this.look(config) } })
    } catch (error) {
      const known = error instanceof PlaygroundError
      const result = { ok: false as const, error: known ? error.message : describeError(error), advice: known ? error.advice : 'Try again.' }
      this.post({ type: 'inspection', requestId, result })
    }
  }

  private async look(run: RunConfig): Promise<Inspection> {
    const { config, sha, total, stored } = await (isHubModel(run.model) ? this.find(run.model, run.model_revision) : this.findOnSite(run.model))
    checkBlocks(baseTensors(config), run.precision)
    const device = await probeDevice()
    const backend = chooseBackend(run.backend, { gpu: device.gpu, threads: device.threads })
    const promptTokens =
      Math.ceil(promptCharacters(run) / CHARACTERS_A_TOKEN) + TOOLS_AND_TEMPLATE + OBSERVATION_ROOM[run.environment.kind]
    // A starting adapter brings its own rank; one that is not there, or is no LoRA, is said before any download.
    const lora = run.adapter ? (await this.hub.adapterConfig(run.adapter)).lora : trainedLora(run)
    const { plan, verdict } = judge({ config, lora, precision: run.precision, backend, grpo: run.grpo, promptTokens, device })
    return {
      model: run.model,
      revision: sha,
      architecture: config.architecture,
      parameters: countParameters(config),
      layers: config.num_hidden_layers,
      downloadBytes: Math.max(0, total - stored),
      storedBytes: stored,
      device,
      backend,
      plan,
      verdict,
    }
  }

  private async findOnSite(model: string): Promise<Found> {
    return { config: parseModelConfig(await this.siteConfig(model)), sha: '', total: 0, stored: 0 }
  }

  private async find(model: string, revision: string): Promise<Found> {
    const store = await this.hub.store()
    const offline = await store.find(model, revision)
    const repo = offline ?? (await this.hub.client.repo(model, revision))
    const chosen = chooseFiles(model, repo.files.map(({ path }) => path))
    const held = (await store.list()).find((entry) => entry.model === model && entry.revision === repo.sha)
    const text = offline ? await this.storedConfig(offline) : new TextDecoder().decode(await this.hub.client.bytesOf(repo, 'config.json'))
    const config = parseModelConfig(parseJson(text, `config.json of ${model}`))
    const size = (path: string): number => repo.files.find((file) => file.path === path)?.size ?? 0
    const shards = repo.files.filter(({ path }) => path.endsWith('.safetensors')).reduce((sum, { size: bytes }) => sum + bytes, 0)
    const files = chosen.weights.kind === 'single' ? size(chosen.weights.path) : shards
    // The header is not read yet: two bytes a weight, or four. A tied head that the file repeats is not downloaded.
    const weights = countParameters(config) * (files > 3 * countParameters(config) ? 4 : 2)
    const needed = Math.min(files, Math.round(weights * WITH_HEADER))
    const total = held?.complete ? held.bytes : needed + chosen.small.reduce((sum, path) => sum + size(path), 0)
    return { config, sha: repo.sha, total, stored: Math.min(total, held?.bytes ?? 0) }
  }

  /** config.json of a model that is stored as a whole. */
  private async storedConfig(repo: HubRepo): Promise<string> {
    const lease = await (await this.hub.store()).lease(repo, () => undefined)
    try {
      const entry = repo.files.find(({ path }) => path === 'config.json')
      if (!entry) throw new PlaygroundError('model', `The stored copy of ${repo.repo} has lost its config.json.`, 'Delete it and download the model again.')
      return new TextDecoder().decode(await readAll(new CachedBytes(await lease.model.file(entry), () => this.hub.client.open(repo, 'config.json'))))
    } finally {
      await lease.release()
    }
  }

  private async list(): Promise<void> {
    try {
      const store = await this.hub.store()
      this.post({ type: 'stored-models', models: await store.list(), storage: await store.estimate() })
    } catch (error) {
      this.complain(error)
      this.post({ type: 'stored-models', models: [], storage: null })
    }
  }

  private async delete(key: string): Promise<void> {
    try {
      await (await this.hub.store()).delete(key)
    } catch (error) {
      this.complain(error)
    }
    await this.list()
  }
}

/** The longest of the prompts that groups begin with, as far as the settings say. */
function promptCharacters({ environment, system_prompt, user_prompt }: RunConfig): number {
  const all = environment.kind === 'mix' ? environment.members : [{ system_prompt, user_prompt }]
  return Math.max(...all.map((one) => one.system_prompt.length + one.user_prompt.length))
}
