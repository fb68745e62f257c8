/** README.md of a trained model, written from its run: what it is, how it was made and measured, how it is loaded, what it is not. */

import { singleSpecs } from '../core/environment-spec'
import type { RunRecord, StepSummary } from '../core/run-record'
import { stageLine, type StageSource } from '../core/stage'
import { codeSection, environmentPlace, evaluationSection, fenced, rewardSection, settingsSection, taskSection } from './card-sections'
import { frontMatter, markdownCode, markdownText } from './card-text'
import { isRepoId } from './model-reference'
import { withoutTokens } from './secrets'
import { PACKAGES } from './trl/versions'

export interface ModelCardInput {
  run: RunRecord
  history: readonly StepSummary[]
  /** 'adapter': PEFT's two files beside the card; 'merged': a whole model. */
  kind: 'adapter' | 'merged'
  /** owner/name of the repository that the card goes to; null for a folder on a disk. */
  repo: string | null
  /** File name of the picture of the reward beside the card. */
  curve: string | null
  /** Folder beside the card with the base model's own files, where it is no repository on the Hub. */
  baseFolder?: string | null
  /** owner/name of the trajectories' dataset, where it was published. */
  dataset?: string | null
  /** File name of the metrics of every step beside the card. */
  log?: string | null
  /** An SPDX name as the Hub writes it, where it is known. */
  license?: string | null
}

const py = (text: string): string => JSON.stringify(text)

/** The base's id on the Hub; null for a model of this site, which has none. (The Hub has no owner called models.) */
function hubBase({ config: { model } }: RunRecord): string | null {
  return isRepoId(model) && !model.startsWith('models/') ? model : null
}

/** The card's text. User text in it is quoted; nothing in the form of a Hub token is in it. Throws nothing. */
export function modelCard(input: ModelCardInput): string {
  const { run, kind, curve, log } = input
  const step = run.checkpoint ?? run.step
  const history = input.history.filter((each) => each.step <= step)
  const code = codeSection(run)
  const sections: [string, string][] = [
    ['Use', useSection(input)],
    ['What it was trained to do', taskSection(run)],
    ...(code === null ? [] : [['Code of the run', code] satisfies [string, string]]),
    ['How it was trained', settingsSection(run)],
    ['Reward', [curve ? `![Mean reward of every step, with the least and the most](${encodeURI(curve)})\n` : '', rewardSection(history), log ? `\nEvery step: [${markdownText(log)}](${encodeURI(log)}).` : ''].filter(Boolean).join('\n')],
    ['Evaluation', evaluationSection(run, step)],
    ['Made with', versionsSection(input)],
    ['Limits', limitsSection(input, step)],
  ]
  const what = kind === 'adapter' ? 'A LoRA adapter' : 'A model'
  const base = baseLine(input)
  const intro = `${what} trained by reinforcement learning (GRPO) for ${step === 1 ? 'one step' : `${step} steps`} in a browser, in the environment ${markdownText(run.environment.name)}. ${stagesLine(run, step)}${base}`
  const body = sections.map(([title, text]) => `## ${title}\n\n${text}\n`).join('\n')
  return withoutTokens(`${metadata(input)}\n# ${markdownText(run.name) || 'A trained LoRA'}\n\n${intro}\n\n${body}`)
}

/** What came before and between the GRPO steps; '' for nothing. */
function stagesLine({ stages = [] }: RunRecord, step: number): string {
  const kept = stages.filter(({ afterStep, skipped }) => afterStep <= step && skipped === undefined)
  if (kept.length === 0) return ''
  const data = kept.map(({ kind, dataset, source, rows, settings }) => `${kind.toUpperCase()} on ${rows === 1 ? 'one row' : `${rows} rows`} of ${source ? sourceText(source) : markdownCode(dataset)}, learning_rate ${settings.learning_rate}`)
  return `The adapter was trained in stages: ${stageLine(kept, step)} (${data.join('; ')}). `
}

const sourceText = ({ repo, sha, config, split }: StageSource): string =>
  `[${markdownText(repo)}](https://huggingface.co/datasets/${repo}) at commit [${sha.slice(0, 8)}](https://huggingface.co/datasets/${repo}/tree/${sha}), ${markdownCode(`${config}/${split}`)}`

function metadata({ run, kind, dataset, license }: ModelCardInput): string {
  const sources = (run.stages ?? []).flatMap(({ source, afterStep }) => (source && afterStep <= (run.checkpoint ?? run.step) ? [source.repo] : []))
  const read = run.environment.dataset?.place?.repo
  const datasets = [...new Set([...(dataset ? [dataset] : []), ...(read === undefined ? [] : [read]), ...sources])]
  const base = hubBase(run)
  const relation = kind === 'adapter' ? 'adapter' : 'finetune'
  return frontMatter({
    ...(base ? { base_model: base, base_model_relation: relation } : {}),
    library_name: kind === 'adapter' ? 'peft' : 'transformers',
    pipeline_tag: 'text-generation',
    ...(license ? { license } : {}),
    tags: [
      ...(base ? [`base_model:${relation}:${base}`] : []),
      ...(kind === 'adapter' ? ['lora', 'transformers'] : []),
      'grpo',
      'reinforcement-learning',
      ...(hasServer(run) ? ['openenv'] : []),
      'grpo-playground',
    ],
    ...(datasets.length > 0 ? { datasets } : {}),
  })
}

function baseLine({ run, baseFolder, kind }: ModelCardInput): string {
  const base = hubBase(run)
  if (base) return `The base is [${markdownText(base)}](https://huggingface.co/${base})${run.modelSha ? ` at commit [${run.modelSha.slice(0, 8)}](https://huggingface.co/${base}/tree/${run.modelSha})` : ''}.`
  const name = markdownCode(run.config.model)
  if (kind === 'merged') return `The base was ${name}, a small model that comes with GRPO Playground; ${run.lora ? 'it is merged in here' : 'all its weights were trained'}.`
  const where = baseFolder ? `its files lie here in ${markdownCode(`${baseFolder}/`)}` : 'copy that folder from there before you load this'
  return `The base is ${name}, a small model that comes with GRPO Playground and is not on the Hub under that name: ${where}.`
}

function useSection(input: ModelCardInput): string {
  const { run, kind, repo, baseFolder } = input
  const base = hubBase(run)
  const here = repo ?? 'path/to/this/folder'
  if (kind === 'merged') {
    return fenced(`from transformers import AutoModelForCausalLM, AutoTokenizer\n\nmodel = AutoModelForCausalLM.from_pretrained(${py(here)}, dtype="float32")\ntokenizer = AutoTokenizer.from_pretrained(${py(here)})`, 'python')
  }
  const revision = base && run.modelSha ? `, revision=${py(run.modelSha)}` : ''
  const inRepo = !base && baseFolder && repo
  const lines = [
    ...(inRepo ? ['from huggingface_hub import snapshot_download'] : []),
    'from peft import PeftModel',
    'from transformers import AutoModelForCausalLM, AutoTokenizer',
    '',
    ...(inRepo ? [`folder = snapshot_download(${py(repo)})`] : base ? [] : [`folder = ${py(here)}`]),
    ...(base ? [`base = ${py(base)}`] : [`base = ${baseFolder ? `folder + ${py(`/${baseFolder}`)}` : py(run.config.model)}`]),
    `model = AutoModelForCausalLM.from_pretrained(base${revision}, dtype="float32")`,
    `model = PeftModel.from_pretrained(model, ${base ? py(here) : 'folder'})`,
    `tokenizer = AutoTokenizer.from_pretrained(base${revision})`,
  ]
  const merge = ['merged = model.merge_and_unload()', 'merged.save_pretrained("merged")']
  return [
    fenced(lines.join('\n'), 'python'),
    '',
    'To merge it into the base, which makes a model that needs no PEFT:',
    '',
    fenced(merge.join('\n'), 'python'),
    '',
    'The model answers as it was trained with the prompts and tools below, through the chat template of the base' + (run.config.enable_thinking ? '.' : ' with `enable_thinking=False`.'),
  ].join('\n')
}

function versionsSection({ run, history }: ModelCardInput): string {
  const { engine, config } = run
  const seconds = history.reduce((sum, each) => sum + each.seconds.sampling + each.seconds.training, 0)
  const { earlierEngines: earlier = [] } = run
  const name = ({ backend, device, threads }: typeof engine): string =>
    backend === 'webgpu' ? `WebGPU (${markdownText(device)})` : `WebAssembly, ${threads} ${threads === 1 ? 'thread' : 'threads'}`
  const device = [...earlier, engine].map(name).join(', then ')
  // GPUs round as they like, and servers may draw as they like.
  const repeats = engine.backend === 'wasm' && earlier.length === 0 && singleSpecs(config.environment).every(({ kind }) => kind === 'builtin' || kind === 'prompts')
  return [
    `* GRPO Playground ${markdownText(run.version)}, onnxruntime-web ${markdownText(engine.ortVersion)}, ${device}`,
    `* Base weights kept as ${config.precision}; LoRA, gradients and AdamW in float32`,
    `* Seed ${config.grpo.seed}${repeats ? '; with the same versions and number of threads the run repeats bit for bit' : ''}`,
    `* ${Math.round(seconds)} s of sampling and training, ${new Date(run.createdAt).toISOString().slice(0, 10)}`,
    `* The files are checked with PEFT ${PACKAGES.peft} and transformers ${PACKAGES.transformers}`,
  ].join('\n')
}

function limitsSection({ run, history, kind }: ModelCardInput, step: number): string {
  const { config } = run
  const unscorable = history.reduce((sum, each) => sum + each.unscorable, 0)
  const episodes = history.reduce((sum, each) => sum + each.episodes, 0)
  const limits = [
    `It was trained for one task, ${environmentPlace(config)}, and measured on nothing else. Other abilities of the base may have changed.`,
    `${episodes} episodes in ${step} ${step === 1 ? 'step' : 'steps'} are few: a reward that rose may rest on a habit that only this environment rewards.`,
    ...(config.precision === 'float32' ? [] : [`The base was quantised (${config.precision}: symmetric blocks of 32 with float32 scales) while it was trained; ${kind === 'adapter' ? 'on the base as published' : 'here'} it answers a little differently.`]),
    ...(run.engine.parameters < 10_000_000 ? [`The base has ${run.engine.parameters.toLocaleString('en')} parameters. It is a toy that shows how GRPO works; it is of no use beyond its environments.`] : []),
    ...(unscorable > 0 ? [`${unscorable} episodes could not be scored (the environment failed or went away) and were left out of training.`] : []),
    ...(hasServer(run) ? ['The environment is a server of its own: at the address above may run another version of it today.'] : []),
  ]
  return limits.map((text) => `* ${text}`).join('\n')
}

const hasServer = ({ config }: Pick<RunRecord, 'config'>): boolean => singleSpecs(config.environment).some(({ kind }) => kind === 'openenv')
