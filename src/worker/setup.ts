/** From a run's configuration to an engine, an environment and a chat format; keeps what the next run can use again. */

import type { Backend, RunConfig } from '../core/config'
import type { Engine } from '../core/engine'
import type { Environment } from '../core/environment'
import type { ChatMessage } from '../core/tools'
import { builtinEnvironment } from '../env/builtin/index'
import { OpenEnvEnvironment } from '../env/openenv/client'
import type { ChatFormat } from '../rollout/chat'
import { chooseBackend, probeCapabilities } from '../runtime/capabilities'
import { createEngine, type EngineInstance } from '../runtime/create'
import { chatFormat, type LoadedFolder, loadFolder, type LoadProgress } from './model'

/** Most episodes that decode together. */
const MOST_SLOTS: Record<Backend, number> = { wasm: 64, webgpu: 16 }
/** Room for the reset observation, which the prompt does not hold yet, in tokens; of servers it is not known. */
const OBSERVATION_ROOM: Record<RunConfig['environment']['kind'], number> = { builtin: 64, openenv: 512 }
const CONTEXT_STEP = 128

export type RunEngine = Engine & Pick<EngineInstance, 'resetAdapter'>

export interface RunSetup {
  engine: RunEngine
  environment: Environment
  chat: ChatFormat
}

export class SetupKeeper {
  private folder: { model: string; loaded: LoadedFolder } | null = null
  private engine: { key: string; instance: EngineInstance } | null = null
  private connecting: Environment | null = null

  /** Everything that `config` needs. Throws PlaygroundError with what is wrong; what was loaded before stays usable. */
  async prepare(config: RunConfig, onProgress: LoadProgress): Promise<RunSetup> {
    const environment = makeEnvironment(config)
    onProgress('environment', 0, null)
    this.connecting = environment
    await environment.connect().finally(() => {
      this.connecting = null
    })
    if (this.folder?.model !== config.model) this.folder = { model: config.model, loaded: await loadFolder(config.model, onProgress) }
    const chat = chatFormat(this.folder.loaded, config.enable_thinking)
    return { environment, chat, engine: await this.prepareEngine(config, environment, chat, onProgress) }
  }

  /** Gives up a connection that is being made: its prepare rejects. */
  abandon(): void {
    void this.connecting?.close()
  }

  /** Ends the engine; the next prepare makes a new one. */
  async discardEngine(): Promise<void> {
    const old = this.engine?.instance
    this.engine = null
    await old?.dispose().catch(() => undefined)
  }

  private async prepareEngine(config: RunConfig, environment: Environment, chat: ChatFormat, onProgress: LoadProgress): Promise<EngineInstance> {
    const capabilities = await probeCapabilities()
    const backend = chooseBackend(config.backend, capabilities)
    const episodes = config.grpo.num_generations * config.grpo.prompts_per_step
    const messages: ChatMessage[] = [
      ...(config.system_prompt ? [{ role: 'system' as const, content: config.system_prompt }] : []),
      { role: 'user', content: config.user_prompt },
    ]
    const prompt = chat.prompt(messages, environment.tools).ids.length
    const needed = prompt + OBSERVATION_ROOM[config.environment.kind] + config.grpo.max_completion_length
    const options = {
      lora: config.lora,
      backend,
      threads: backend === 'wasm' ? capabilities.threads : 1,
      slots: Math.min(episodes, MOST_SLOTS[backend]),
      contextLength: Math.ceil(needed / CONTEXT_STEP) * CONTEXT_STEP,
      modelName: config.model,
    }
    const key = JSON.stringify(options)
    if (this.engine?.key !== key) {
      await this.discardEngine()
      onProgress('engine', 0, null)
      const folder = this.folder as { loaded: LoadedFolder }
      const instance = await createEngine({
        ...options,
        source: folder.loaded.source,
        seed: config.grpo.seed,
        ...(capabilities.gpu ? { adapterName: capabilities.gpu.name } : {}),
      })
      this.engine = { key, instance }
    }
    return this.engine.instance
  }
}

function makeEnvironment({ environment }: RunConfig): Environment {
  if (environment.kind === 'builtin') return builtinEnvironment(environment.name)
  return new OpenEnvEnvironment(environment.url, { pageProtocol: self.location.protocol })
}
