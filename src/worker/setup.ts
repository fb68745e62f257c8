/** From a run's configuration to an engine, an environment and a chat format; keeps what the next run can use again. */

import { type RunConfig, trainedLora } from '../core/config'
import type { Engine } from '../core/engine'
import type { Environment } from '../core/environment'
import { PlaygroundError } from '../core/errors'
import { latePart } from '../core/late-part'
import { hostsOf } from '../core/network-hosts'
import type { SelfTestReport } from '../core/events'
import type { ChatMessage } from '../core/tools'
import type { OpenEnvOptions } from '../env/openenv/client'
import { withToolEdits } from '../env/tool-edits'
import { RunningSha256 } from '../hub/hashing'
import { isRepoId } from '../hub/model-reference'
import type { PeftAdapter } from '../hub/peft-adapter'
import { type ModelConfig, parseModelConfig } from '../model/config'
import type { ChatFormat } from '../rollout/chat'
import { firstMessages } from '../rollout/first-messages'
import type { Rollout } from '../rollout/rollout'
import { type Capabilities, chooseBackend, probeCapabilities } from '../runtime/capabilities'
import { createEngine, type EngineInstance } from '../runtime/create'
import { sliceSource } from '../runtime/slice'
import { engineSizes } from '../runtime/verdict'
import { baseTensors, checkBlocks } from '../runtime/weights'
import { assertNotStopped } from '../train/guard'
import type { CallCustom } from '../train/scoring'
import { environmentOf, OBSERVATION_ROOM } from './environment-of'
import type { HubAccess } from './hub-access'
import { chatFormat, type LoadedModel, loadModel, type ModelCallbacks } from './model'
import { callWithHosts, requireSandbox } from './reward-sandbox'

/** A longer prompt of a dataset is left out. */
const LONGEST_PROMPT = 1024

/** Device bytes of an engine that need not make room for the next one: the shipped model's with its KV cache is far below. */
const SMALL_ENGINE = 128e6

export type RunEngine = Engine & Pick<EngineInstance, 'resetAdapter'>

export interface RunSetup {
  engine: RunEngine
  environment: Environment
  chat: ChatFormat
  /** The Hub's commit that is loaded; null for a model of this site. */
  sha: string | null
  /** null where nothing was compared: WASM. */
  selfTest: SelfTestReport | null
  /** Calls reward functions of the person's own. */
  callCustom?: CallCustom
  /** Generates the run's episodes instead of the page's loop: a rollout function of the person's own. */
  rollout?: Rollout
}

/** Where a kept run began, instead of what its config names today: a branch may have moved, files are gone. */
export interface KeptStart {
  /** The Hub's commit of the base; null for a model of this site. */
  sha: string | null
  /** null for a fresh LoRA. */
  start: PeftAdapter | null
}

export type SetupCallbacks = Omit<ModelCallbacks, 'signal'> & {
  /** Goes back to where a kept run began. */
  at?: KeptStart
  /** A session is wanted and none is free, now or later. */
  onCrowded?: () => void
  /** What the run waits for at its environment, after it was connected; null ends it. */
  onAway?: (text: string | null) => void
}

/** Puts the engine back to step 0; false when it died while nothing ran. */
export function isReset({ engine }: RunSetup, { grpo }: RunConfig): boolean {
  try {
    engine.resetAdapter(grpo.seed)
    return true
  } catch {
    return false
  }
}

/** What an environment is made from; of an episode that is played by hand, the seed is its own. */
type Environs = Pick<RunConfig, 'environment' | 'network_hosts' | 'tool_edits' | 'system_prompt'> & Partial<Pick<RunConfig, 'grpo'>>

interface KeptEngine {
  key: string
  instance: EngineInstance
  selfTest: SelfTestReport | null
}

export class SetupKeeper {
  private model: { key: string; loaded: LoadedModel } | null = null
  private engine: KeptEngine | null = null
  private connecting: Environment | null = null
  private loading: AbortController | null = null

  constructor(private readonly hub: HubAccess) {}

  /** Everything that `config` needs. Throws PlaygroundError with what is wrong; what was loaded before stays usable unless the engine itself failed. */
  async prepare(config: RunConfig, callbacks: SetupCallbacks): Promise<RunSetup> {
    const onDetail = (detail: string) => callbacks.onProgress({ what: 'environment', done: 0, total: null, detail })
    const loading = new AbortController()
    this.loading = loading
    const environment = await this.makeEnvironment(config, { onDetail, ...(callbacks.onAway ? { onAway: callbacks.onAway } : {}) })
    assertNotStopped(loading.signal, 'The loading was stopped.')
    environment.onCrowded = callbacks.onCrowded
    callbacks.onProgress({ what: 'environment', done: 0, total: null })
    this.connecting = environment
    await environment.connect().finally(() => {
      this.connecting = null
    })
    const hosts = hostsOf(config)
    try {
      const rollout = config.rollout_func && (await (await rollouts()).readyRollout(config.rollout_func, () => requireSandbox(hosts)))
      const loaded = await this.load(pinned(config, callbacks.at), environment, { ...callbacks, signal: loading.signal })
      return { ...loaded, callCustom: callWithHosts(hosts), ...(rollout && { rollout }) }
    } catch (error) {
      await environment.close()
      throw error
    } finally {
      this.loading = null
    }
  }

  /** The environment that a config names, its tools as they were edited; not connected yet. Throws PlaygroundError('config') for a bad address. */
  async makeEnvironment({ environment, network_hosts, tool_edits, system_prompt, grpo }: Environs, options: OpenEnvOptions = {}): Promise<Environment> {
    const made = await environmentOf(environment, { ...this.hub.forSpaces(), ...options, ...(grpo && { seed: grpo.seed }), system_prompt, datasets: this.hub.client, tool_edits, ...(network_hosts && { network_hosts }) })
    return environment.kind === 'mix' ? made : withToolEdits(made, tool_edits)
  }

  /** Whether this engine is still the one that is kept: one that made room for another is gone. */
  holds(engine: Engine): boolean {
    return this.engine?.instance === engine
  }

  /** Gives up a connection or a download that is being made: its prepare rejects. What was downloaded stays. */
  abandon(): void {
    void this.connecting?.close()
    this.loading?.abort()
  }

  /** Ends the engine; the next prepare makes a new one. */
  async discardEngine(): Promise<void> {
    const old = this.engine?.instance
    this.engine = null
    await old?.dispose().catch(() => undefined)
  }

  private async load(config: RunConfig, environment: Environment, callbacks: LoadCallbacks): Promise<RunSetup> {
    const capabilities = await probeCapabilities(config.backend)
    const backend = chooseBackend(config.backend, capabilities)
    const modelKey = JSON.stringify([config.model, config.model_revision])
    const { model } = this
    const kept = model?.key === modelKey ? model.loaded : null
    const loaded = kept ?? (await loadModel(config, this.hub, callbacks))
    try {
      const shape = parseModelConfig(await loaded.source.config())
      const chat = chatFormat(loaded, config.enable_thinking)
      checkVocabulary(config.model, chat, shape)
      const tokens = (messages: readonly ChatMessage[], tools = environment.tools): number => chat.prompt(messages, tools).ids.length
      const most = Math.min(LONGEST_PROMPT, shape.max_position_embeddings - config.grpo.max_completion_length)
      const prompt = environment.fit?.(tokens, most) ?? tokens(firstMessages(config)) + OBSERVATION_ROOM[config.environment.kind]
      const options = {
        precision: config.precision,
        lora: trainedLora(config),
        backend,
        threads: backend === 'wasm' ? capabilities.threads : 1,
        ...engineSizes(shape, backend, config.grpo, prompt),
        modelName: config.model,
      }
      const key = JSON.stringify([options, loaded.sha, callbacks.at?.start ? ['kept', await digest(callbacks.at.start)] : config.adapter])
      if (this.engine?.key !== key) {
        if (kept && kept.sha !== null) {
          // Its weights were read and its stored files given back: they are opened anew.
          this.model = null
          return await this.load(config, environment, callbacks)
        }
        const made = await this.makeEngine(key, options, config, loaded, capabilities, callbacks)
        await this.discardEngine()
        this.engine = made
      }
      this.model = { key: modelKey, loaded }
      for (const remark of environment.remarks ?? []) callbacks.onNotice(remark)
      return { environment, chat, engine: this.engine.instance, sha: loaded.sha, selfTest: this.engine.selfTest }
    } finally {
      // Read or given up: the stored files are free for other tabs.
      await loaded.close()
    }
  }

  private async makeEngine(
    key: string,
    options: Omit<Parameters<typeof createEngine>[0], 'source'>,
    config: RunConfig,
    loaded: LoadedModel,
    capabilities: Capabilities,
    { onProgress, onNotice, signal, at }: LoadCallbacks,
  ): Promise<KeptEngine> {
    const base = parseModelConfig(await loaded.source.config())
    const adapter = at?.start ?? (config.adapter ? await this.hub.adapter(config.adapter, base, signal) : null)
    // What is wrong with the weights' headers or the precision is said while the old engine is still there.
    checkBlocks(baseTensors(base), config.precision)
    await loaded.source.tensors()
    // A small one stays until the new one stands, so that a damaged download costs no run.
    const stays = this.engine !== null && this.engine.instance.allocatedBytes <= SMALL_ENGINE
    if (!stays) await this.discardEngine()
    onProgress({ what: 'engine', done: 0, total: null })
    const adapterName = capabilities.gpu?.name ?? 'GPU'
    const lora = adapter?.lora ?? options.lora
    const named = adapter?.baseModel
    if (named && isRepoId(named) && named !== config.model) {
      onNotice(`The adapter was trained on ${named}, not on ${config.model}: its shapes fit, but what it learned may not.`)
    }
    const { source, slice } = sliceSource(loaded.source, { precision: config.precision })
    const instance = await createEngine({
      ...options,
      lora,
      source: options.backend === 'webgpu' ? source : loaded.source,
      startingAdapter: adapter?.tensors ?? null,
      seed: config.grpo.seed,
      adapterName,
    })
    try {
      assertNotStopped(signal, 'The loading was stopped.')
      if (options.backend === 'wasm') return { key, instance, selfTest: null }
      onProgress({ what: 'self-test', done: 0, total: null })
      const { selfTest } = await latePart(() => import('../runtime/self-test'))
      const report = await selfTest({ slice: await slice(), precision: config.precision, lora, adapterName, threads: capabilities.threads })
      assertNotStopped(signal, 'The loading was stopped.')
      return { key, instance, selfTest: report }
    } catch (error) {
      await instance.dispose().catch(() => undefined)
      throw error
    }
  }
}

const rollouts = () => latePart(() => import('../rollout/custom/custom-rollout'))

type LoadCallbacks = ModelCallbacks & Pick<SetupCallbacks, 'at'>

const pinned = (config: RunConfig, at?: KeptStart): RunConfig => (at?.sha ? { ...config, model_revision: at.sha } : config)

/** Tells one kept adapter from another. */
async function digest({ lora, tensors }: PeftAdapter): Promise<string> {
  const hash = await RunningSha256.create()
  hash.update(new TextEncoder().encode(JSON.stringify([lora, tensors.map(({ name }) => name)])))
  for (const { data } of tensors) hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  return hash.digest()
}

/** Throws PlaygroundError('model') when the tokenizer writes ids that the embedding does not have. */
function checkVocabulary(model: string, chat: ChatFormat, { vocab_size: vocab }: ModelConfig): void {
  const { largestId } = chat
  if (largestId < vocab) return
  const message = `The tokenizer of ${model} has a token ${largestId}; the model's vocabulary ends at ${vocab - 1}.`
  throw new PlaygroundError('model', message, 'Tokenizer and weights belong to different models: choose another repository or revision.')
}
