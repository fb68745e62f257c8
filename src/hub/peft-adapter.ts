/** Reads a LoRA in PEFT's format (adapter_config.json, adapter_model.safetensors) and refuses by name what would not compute the same here. */

import * as z from 'zod/mini'
import { LORA_TARGETS, type LoraConfig, type LoraTarget } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import '../core/zod-words'
import { linearDims, modulePath, type ModelShape, peftTensor } from '../core/linear-layers'
import { cutText } from '../core/text'
import type { HubClient, HubRepo, OpenOptions } from './client'
import { readSafetensors } from './safetensors'

export interface PeftAdapter {
  lora: LoraConfig
  /** base_model_name_or_path: a Hub id, or a path on someone's disk. */
  baseModel: string | null
  /** 'base_model.model.model.layers.N.….lora_A.weight' [r, in] and lora_B [out, r], float32; layer by layer, A before B. */
  tensors: NamedTensor[]
}

export const ADAPTER_CONFIG = 'adapter_config.json'
export const ADAPTER_WEIGHTS = 'adapter_model.safetensors'

const TRAIN_PLAIN = 'Take a plain LoRA on q, k, v, o, gate, up and down projections, as TRL trains it with target_modules="all-linear".'

function refuse(message: string, advice = TRAIN_PLAIN): never {
  throw new PlaygroundError('model', message, advice)
}

const refuseField = (field: string, value: unknown, why: string): never => refuse(`${ADAPTER_CONFIG}: ${field} is ${shown(value)}, ${why}.`)

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 80 ? `${cutText(text, 80)}…` : text
}

const schema = z.looseObject({
  peft_type: z.string(),
  task_type: z.nullish(z.string()),
  base_model_name_or_path: z.nullish(z.string()),
  r: z.int().check(z.positive()),
  lora_alpha: z.number().check(z.positive()),
  use_rslora: z.nullish(z.boolean()),
  bias: z.nullish(z.string()),
  target_modules: z.nullish(z.union([z.string(), z.array(z.string())])),
  init_lora_weights: z.nullish(z.union([z.string(), z.boolean()])),
})
type Config = z.infer<typeof schema>

/** Read first: other methods' configs have other fields, and the method is what a person needs to hear. */
const methodSchema = z.looseObject({ peft_type: z.string() })

/** Fields that the schema reads, and those that change nothing in what a saved adapter computes. */
const HARMLESS = new Set([
  ...Object.keys(schema.shape),
  ...['revision', 'peft_version', 'auto_mapping', 'inference_mode', 'lora_dropout', 'exclude_modules', 'layers_pattern', 'megatron_core'],
  ...['qalora_group_size', 'loftq_config', 'eva_config', 'runtime_config', 'ensure_weight_tying'],
])

/** Why the known others are refused when they are set. */
const UNSUPPORTED: Record<string, string> = {
  use_dora: 'and DoRA is not supported',
  modules_to_save: 'and fully trained modules are not supported',
  rank_pattern: 'and every layer must have the same rank',
  alpha_pattern: 'and every layer must have the same lora_alpha',
  layers_to_transform: 'and the LoRA must sit on every layer',
  layer_replication: 'and repeated layers are not supported',
  fan_in_fan_out: 'which is for Conv1D layers, and Qwen has none',
  trainable_token_indices: 'and trained token embeddings are not supported',
  target_parameters: 'and a LoRA on bare parameters is not supported',
  lora_bias: 'and a bias beside lora_B is not supported',
}

/** These start from the base weights as they are; all others have changed them, so the adapter fits no public model. */
const KEEPS_BASE = new Set<unknown>([undefined, null, true, false, 'gaussian', 'orthogonal', 'eva'])

/** Whether a field of Python's dataclass is switched off. */
function isOff(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function readConfig(json: unknown): Config {
  const method = methodSchema.safeParse(json).data?.peft_type
  if (method !== undefined && method !== 'LORA') refuseField('peft_type', method, 'and only LORA is supported')
  const parsed = schema.safeParse(json)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const where = issue?.path.join('.') || 'the file'
    refuse(`${ADAPTER_CONFIG}: ${where}: ${issue?.message ?? 'not readable'}.`, 'Check that this is the adapter_config.json that PEFT saved beside the weights.')
  }
  const config = parsed.data
  if (config.task_type && config.task_type !== 'CAUSAL_LM') refuseField('task_type', config.task_type, 'and only CAUSAL_LM is supported')
  if (config.bias && config.bias !== 'none') refuseField('bias', config.bias, 'and trained biases are not supported')
  if (!KEEPS_BASE.has(config.init_lora_weights)) refuseField('init_lora_weights', config.init_lora_weights, 'which changes the base weights too')
  for (const [field, value] of Object.entries(config)) {
    if (!HARMLESS.has(field) && !isOff(value)) refuseField(field, value, UNSUPPORTED[field] ?? 'and what that does is not supported')
  }
  return config
}

const isTarget = (name: string): name is LoraTarget => (LORA_TARGETS as readonly string[]).includes(name)

/** The modules that the config names; null leaves it to the tensors (a regular expression, or PEFT's default). */
function namedTargets({ target_modules: modules }: Config): Set<LoraTarget> | null {
  if (modules === 'all-linear') return new Set(LORA_TARGETS)
  if (!Array.isArray(modules)) return null
  // PEFT matches by the end of a module's path, and writes whole paths where 'all-linear' finds fewer than 20. That
  // every layer is there is seen from the tensors.
  const names = modules.map((module) => module.replace(/^(model\.layers\.\d+\.)?(self_attn|mlp)\./, ''))
  const other = modules.find((_, i) => !isTarget(names[i] as string))
  if (other !== undefined) refuse(`${ADAPTER_CONFIG}: target_modules names '${other}', and only ${LORA_TARGETS.join(', ')} are supported.`)
  return new Set(names.filter(isTarget))
}

interface Part {
  layer: number
  target: LoraTarget
  side: 'A' | 'B'
}

const PREFIX = 'base_model.model.model.layers.'
const NAME = /^base_model\.model\.model\.layers\.(\d+)\.(self_attn|mlp)\.(\w+)\.lora_([AB])(?:\.default)?\.weight$/

function parseName(name: string): Part {
  const match = NAME.exec(name)
  const [, layer, block, module = '', side] = match ?? []
  if (match && isTarget(module) && modulePath(module) === `${block}.${module}`) return { layer: Number(layer), target: module, side: side as 'A' | 'B' }
  if (!name.startsWith(PREFIX)) {
    refuse(`${ADAPTER_WEIGHTS}: '${name}' does not start with ${PREFIX}, as a LoRA of Qwen2, Qwen2.5 or Qwen3 does.`, 'Save the adapter of the causal language model with PEFT.')
  }
  return refuse(`${ADAPTER_WEIGHTS}: '${name}' is not a LoRA tensor of a layer that is supported.`)
}

const canonical = ({ layer, target, side }: Part) => peftTensor(layer, `${modulePath(target)}.lora_${side}`)

/** Tensors by their canonical names, each checked by itself. */
function readTensors(weights: Uint8Array): Map<string, Part & NamedTensor> {
  const tensors = new Map<string, Part & NamedTensor>()
  for (const [name, { dims, data }] of readSafetensors(weights).tensors) {
    const part = parseName(name)
    const key = canonical(part)
    if (tensors.has(key)) refuse(`${ADAPTER_WEIGHTS}: '${key}' is there twice, with and without an adapter's name.`, 'Save one adapter alone.')
    if (dims.length !== 2) refuse(`${ADAPTER_WEIGHTS}: '${name}' has the shape [${dims.join(', ')}] instead of two dimensions.`)
    if (!data.every(Number.isFinite)) refuse(`${ADAPTER_WEIGHTS}: '${name}' holds NaN or infinity.`, 'Take an earlier checkpoint.')
    tensors.set(key, { ...part, name: key, dims, data })
  }
  if (tensors.size === 0) refuse(`${ADAPTER_WEIGHTS} has no tensors.`, 'Save the adapter again.')
  return tensors
}

/** Every layer must have the same modules, both sides of each, with the shapes that r and the model give. */
function checkTensors(tensors: ReadonlyMap<string, Part & NamedTensor>, targets: readonly LoraTarget[], r: number, base: ModelShape | null): void {
  const layers = base?.num_hidden_layers ?? [...tensors.values()].reduce((most, { layer }) => Math.max(most, layer + 1), 0)
  const beyond = [...tensors.values()].find(({ layer }) => layer >= layers)
  if (beyond) refuse(`${ADAPTER_WEIGHTS}: '${beyond.name}' is of layer ${beyond.layer}, but the model has ${layers} layers.`, 'Choose the model that the adapter was trained on.')
  for (const target of targets) {
    // Without a model all layers must agree with the first.
    const first = (side: 'A' | 'B', dim: number) => tensors.get(canonical({ layer: 0, target, side }))?.dims[dim] ?? 0
    const [out, input] = base ? linearDims(base, target) : [first('B', 0), first('A', 1)]
    for (let layer = 0; layer < layers; layer++) {
      for (const side of ['A', 'B'] as const) {
        const name = canonical({ layer, target, side })
        const found = tensors.get(name)
        if (!found) refuse(`${ADAPTER_WEIGHTS} has no '${name}': the LoRA must sit on the same modules of all ${layers} layers.`)
        const expected = side === 'A' ? [r, input] : [out, r]
        if (found.dims.some((n, i) => n !== expected[i])) {
          const message = `${ADAPTER_WEIGHTS}: '${name}' has the shape [${found.dims.join(', ')}], but r ${r} and the ${base ? 'model' : 'first layer'} ask for [${expected.join(', ')}].`
          refuse(message, 'Choose the model that the adapter was trained on.')
        }
      }
    }
  }
}

const largest = ({ data }: NamedTensor): number => data.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

/** Refuses what cannot be computed in float32: inputs of about 1 through A, and then B · A times the scale. */
function checkSizes(tensors: ReadonlyMap<string, Part & NamedTensor>, { r, lora_alpha, use_rslora }: Config): void {
  const scale = lora_alpha / (use_rslora ? Math.sqrt(r) : r)
  const fits = (value: number): boolean => Number.isFinite(Math.fround(value))
  if (!fits(scale)) refuse(`${ADAPTER_CONFIG}: lora_alpha is ${lora_alpha}, which no float32 holds.`, 'Take the lora_alpha that the adapter was trained with.')
  for (const a of tensors.values()) {
    const b = a.side === 'A' ? tensors.get(canonical({ ...a, side: 'B' })) : undefined
    if (!b) continue
    const [most, width] = [largest(a), a.dims[1] ?? 1]
    const module = `'${a.name.replace('.lora_A.weight', '')}'`
    if (!fits(most * width)) refuse(`${ADAPTER_WEIGHTS}: lora_A of ${module} holds numbers up to ${most.toExponential(0)}: its products overflow float32.`, 'Take an earlier checkpoint.')
    if (!fits(largest(b) * most * r * scale)) refuse(`The LoRA of ${module}, lora_alpha ${lora_alpha} and r ${r} give weights that overflow float32.`, 'Take an earlier checkpoint, or the lora_alpha that it was trained with.')
  }
}

function described(config: Config, targets: LoraTarget[]): Pick<PeftAdapter, 'lora' | 'baseModel'> {
  const { r, lora_alpha, use_rslora } = config
  return { lora: { r, lora_alpha, use_rslora: use_rslora ?? false, target_modules: targets }, baseModel: config.base_model_name_or_path || null }
}

/**
 * Reads and checks an adapter.
 * @param configJson parsed adapter_config.json
 * @param weights adapter_model.safetensors: float32, float16 or bfloat16
 * @param base the model that it shall sit on; null checks the adapter against itself only
 * @throws PlaygroundError('model') with the field or tensor that is damaged, not supported, or does not fit
 */
export function readPeftAdapter(configJson: unknown, weights: Uint8Array, base: ModelShape | null = null): PeftAdapter {
  const config = readConfig(configJson)
  const named = namedTargets(config)
  const tensors = readTensors(weights)
  const present = new Set([...tensors.values()].map(({ target }) => target))
  const targets = LORA_TARGETS.filter((target) => present.has(target))
  const extra = named && targets.find((target) => !named.has(target))
  if (extra) refuse(`${ADAPTER_WEIGHTS} has tensors of ${extra}, which target_modules in ${ADAPTER_CONFIG} does not name.`, 'Take both files from the same save.')
  const missing = named && [...named].find((target) => !present.has(target))
  if (missing) refuse(`${ADAPTER_CONFIG}: target_modules names ${missing}, but ${ADAPTER_WEIGHTS} has no tensors of it.`, 'Take both files from the same save.')
  checkTensors(tensors, targets, config.r, base)
  checkSizes(tensors, config)
  const rank = (target: LoraTarget) => LORA_TARGETS.indexOf(target)
  const inOrder = [...tensors.values()].sort((a, b) => a.layer - b.layer || rank(a.target) - rank(b.target) || (a.side < b.side ? -1 : 1))
  return { ...described(config, targets), tensors: inOrder.map(({ name, dims, data }) => ({ name, dims, data })) }
}

/** What adapter_config.json alone says: enough to plan for. Throws PlaygroundError('model') with the field that is not supported. */
export function readPeftConfig(configJson: unknown): Pick<PeftAdapter, 'lora' | 'baseModel'> {
  const config = readConfig(configJson)
  const named = namedTargets(config)
  return described(config, LORA_TARGETS.filter((target) => named === null || named.has(target)))
}

/** The commit of an adapter on the Hub and its parsed adapter_config.json. Throws as loadHubAdapter does. */
export async function findHubAdapter(client: HubClient, repo: string, revision = 'main', options: OpenOptions = {}): Promise<{ at: HubRepo; config: unknown }> {
  const at = await client.repo(repo, revision, { signal: options.signal, what: 'adapter' })
  const has = (path: string) => at.files.some((file) => file.path === path)
  if (!has(ADAPTER_CONFIG)) {
    const what = has('config.json') ? 'is a model, not a LoRA' : 'holds no LoRA in PEFT’s format'
    refuse(`${repo} ${what}: it has no ${ADAPTER_CONFIG} at revision '${revision}'.`, 'Choose a repository whose first folder holds adapter_config.json and adapter_model.safetensors.')
  }
  if (!has(ADAPTER_WEIGHTS) && has('adapter_model.bin')) {
    refuse(`${repo} keeps its LoRA as adapter_model.bin, a pickle, which may run code.`, 'Save it again with PEFT, which writes adapter_model.safetensors.')
  }
  return { at, config: await client.json(at, ADAPTER_CONFIG, { ...options, onProgress: undefined }) }
}

/**
 * Downloads and reads an adapter from the Hub; `sha` is the commit that it was read at.
 * @throws PlaygroundError as HubClient and readPeftAdapter do; 'model' when the repository holds no LoRA in PEFT's format
 */
export async function loadHubAdapter(
  client: HubClient,
  repo: string,
  revision = 'main',
  { base = null, ...options }: OpenOptions & { base?: ModelShape | null } = {},
): Promise<PeftAdapter & { sha: string }> {
  const { at, config } = await findHubAdapter(client, repo, revision, options)
  return { ...readPeftAdapter(config, await client.bytesOf(at, ADAPTER_WEIGHTS, options), base), sha: at.sha }
}
