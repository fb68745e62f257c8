/** Sections of a model card: the run's settings, its rewards, its evaluations, its prompts; each is Markdown without its heading. */

import { datasetName, type PageFunction, singleSpecs, specName } from '../core/environment-spec'
import { runEvaluations } from '../core/evaluation'
import { hasCode, hostsOf } from '../core/network-hosts'
import type { EvaluationRecord, RunRecord, StepSummary } from '../core/run-record'
import { wilson } from '../core/interval'
import { markdownCode, markdownText } from './card-text'
import { withoutCredentials } from './secrets'
import { grpoSettings } from './trl/settings'

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
/** Rows of the table of rewards. */
const MOST_ROWS = 12

const number = (value: number | null | undefined): string => (value === null || value === undefined || !Number.isFinite(value) ? '–' : String(Number(value.toPrecision(4))))

/** A table; cells are Markdown already. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

/** A block of text as it is, in a fence that it cannot close. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

/** An environment's address without what may be a secret in it. */
export function environmentPlace({ environment }: Pick<RunRecord['config'], 'environment'>): string {
  if (environment.kind === 'mix') {
    const rows = environment.dataset ? `, on the rows of ${markdownCode(datasetName(environment.dataset))}` : ''
    const total = environment.members.reduce((sum, { weight }) => sum + weight, 0)
    const part = (weight: number) => (environment.dataset || environment.members.length < 2 ? '' : ` (${Math.round((100 * weight) / total)} % of the prompts)`)
    return `${environment.members.map((member) => `${environmentPlace({ environment: member.environment })}${part(member.weight)}`).join('; ')}${rows}`
  }
  if (environment.kind === 'builtin') return `built into GRPO Playground (${markdownCode(environment.name)})`
  if (environment.kind === 'custom') return `written in the page (${markdownCode(environment.called)})`
  if (environment.kind === 'prompts') return `none: prompts of ${markdownCode(datasetName(environment.dataset))}, judged by reward functions`
  return markdownCode(withoutCredentials(specName(environment)))
}

/** The dataset that a run read, with its commit. */
function datasetLines(dataset: RunRecord['environment']['dataset']): string[] {
  if (!dataset) return []
  const { place, rows, heldOut } = dataset
  const from = place ? `[${markdownText(place.repo)}](https://huggingface.co/datasets/${place.repo}) at commit ${markdownCode(place.sha)}, ${markdownCode(`${place.config}/${place.split}`)}` : markdownText(dataset.name)
  return [`* Dataset: ${from}; ${rows} rows trained on, ${heldOut} held out`]
}

/** Environment, tools and prompts, as the model saw them; of several, each one's. */
export function taskSection(run: RunRecord): string {
  const { name, tools, prompts, members } = run.environment
  const system = run.config.system_prompt || prompts.system
  const user = run.config.user_prompt || prompts.user
  const edits = run.config.tool_edits.length
  const head = [
    `* Environment: ${markdownText(name)}, ${environmentPlace(run.config)}`,
    ...datasetLines(run.environment.dataset),
    `* Reward: what the environment gives for an episode; nothing was added to it.`,
  ]
  if (!members || members.length < 2) return [...head, ...facing({ tools, prompts: { system, user } }, edits)].join('\n')
  return [...head, ...members.flatMap((member) => ['', `### ${markdownText(member.name)}`, '', ...facing(member, edits)])].join('\n')
}

/** The JavaScript that a person wrote for the run, classes and rollout_func, as it is, and what it could reach; null for none. */
export function codeSection({ config }: Pick<RunRecord, 'config'>): string | null {
  const classes = singleSpecs(config.environment).flatMap((one) => (one.kind === 'custom' ? [['The environment', one] as const] : []))
  const rollout = config.rollout_func ? [['The function that generated the completions,', config.rollout_func] as const] : []
  const shown = ([what, { called, code }]: readonly [string, PageFunction]) => `${what} ${markdownCode(called)}:\n\n${fenced(code, 'js')}`
  const parts = [...classes, ...rollout].map(shown)
  const hosts = hasCode(config) ? hostsOf(config) : []
  const network = hosts.length === 0 ? '' : ` with network to ${hosts.map(markdownCode).join(', ')} and to no other host; what came from there is not in these files`
  if (parts.length === 0) return network === '' ? null : `Reward functions were written in JavaScript and ran in a sandbox${network}.`
  return [`Written in the page in JavaScript; it ran in a sandbox${network}.`, ...parts].join('\n\n')
}

/** What the model faces: tools and prompts. */
function facing({ tools, prompts: { system, user } }: Pick<RunRecord['environment'], 'tools' | 'prompts'>, edits: number): string[] {
  const list = tools.map(({ function: { name: tool, description } }) => `* ${markdownCode(tool)}: ${markdownText(description) || 'no description'}`)
  return [
    `* Tools${edits > 0 ? `, ${edits} of their parts changed by hand` : ''}:${list.length === 0 ? ' none' : ''}`,
    ...list.map((line) => `  ${line}`),
    '',
    ...(system === '' ? ['There was no system prompt.'] : ['System prompt:', '', fenced(system)]),
    '',
    ...(user === ''
      ? ['The first user message is what the environment says at reset.']
      : ['First user message (where the environment adds to it, that comes on top):', '', fenced(user)]),
  ]
}

/** TRL's and PEFT's settings. */
export function settingsSection({ config, lora }: RunRecord): string {
  const value = (each: unknown) => markdownCode(typeof each === 'string' ? each : JSON.stringify(each))
  const rows = grpoSettings(config).map(({ name, value: each }) => [markdownCode(name), value(each)])
  const peft = lora
    ? [
        ['r', lora.r],
        ['lora_alpha', lora.lora_alpha],
        ['use_rslora', lora.use_rslora],
        ['target_modules', lora.target_modules.join(', ')],
      ].map(([name, each]) => [markdownCode(String(name)), value(each)])
    : []
  const episodes = config.grpo.prompts_per_step * config.grpo.num_generations
  const start = config.adapter === null ? '' : `\n\nThe LoRA did not start fresh: it went on from ${markdownCode(config.adapter.kind === 'hub' ? config.adapter.repo : config.adapter.name)}.`
  const head = `Each step played ${episodes} episodes: ${config.grpo.prompts_per_step} ${config.grpo.prompts_per_step === 1 ? 'group' : 'groups'} of ${config.grpo.num_generations}. Names are TRL's (\`GRPOConfig\`) and PEFT's (\`LoraConfig\`).`
  return `${head}\n\n${table(['setting', 'value'], [...rows, ...peft])}${start}`
}

/** First, last and some between. */
function some<T>(all: readonly T[]): T[] {
  const every = Math.max(1, Math.ceil((all.length - 1) / (MOST_ROWS - 1)))
  return all.filter((_, i) => i % every === 0 || i === all.length - 1)
}

/** First, last and some steps between. */
export function rewardSection(history: readonly StepSummary[]): string {
  const rows = some(history).map(({ step, metrics, rewardMin, rewardMax, unscorable, episodes }) => {
    const success = metrics['success']
    return [String(step), number(metrics['reward']), number(metrics['reward_std']), `${number(rewardMin)} … ${number(rewardMax)}`, typeof success === 'number' ? PERCENT.format(success) : '–', `${episodes - unscorable} of ${episodes}`]
  })
  return table(['step', 'mean reward', 'standard deviation', 'least … most', 'solved', 'scorable episodes'], rows)
}

/** The newest measurement of every adapter, split, precision of the base and way of playing. */
export function latestEvaluations(evaluations: readonly EvaluationRecord[]): EvaluationRecord[] {
  const found = new Map(evaluations.map((each) => [`${each.precision} ${each.split} ${each.policy ? 'base' : each.step} ${each.greedy ?? false}`, each]))
  return [...found.values()].sort((a, b) => a.precision.localeCompare(b.precision) || a.split.localeCompare(b.split) || a.step - b.step)
}

/** Success with Wilson's interval, for each precision of the base that was measured. */
/** `step`: the last of those that are taken away. */
export function evaluationSection(run: RunRecord, step: number): string {
  return [stageMeasures(run, step), evaluationsOf(run)].filter((part) => part !== null).join('\n\n')
}

/** What the stages of the run's plan did to the policy; null where none was measured. */
function stageMeasures({ stages = [] }: RunRecord, step: number): string | null {
  const share = (value: number | undefined): string => (value === undefined ? '–' : PERCENT.format(value))
  const rows = stages.flatMap(({ kind, steps, afterStep, skipped, before, after }) =>
    skipped !== undefined || afterStep > step || (!before && !after)
      ? []
      : [[`${kind.toUpperCase()} ${steps === 1 ? 'one step' : `${steps} steps`}`, String((after ?? before)?.episodes), share(before?.success), share(after?.success), share(before?.valid), share(after?.valid)]],
  )
  if (rows.length === 0) return null
  return `Before and after each stage, on the held-out scenarios where the environment has some; a call is valid where it fits the tools.\n\n${table(['stage', 'episodes', 'success before', 'after', 'ended by valid calls before', 'after'], rows)}`
}

function evaluationsOf({ evaluations, config }: RunRecord): string {
  const latest = latestEvaluations([...evaluations.filter(({ metrics }) => !metrics), ...some(runEvaluations(evaluations))])
  const quantised = config.precision !== 'float32'
  if (latest.length === 0) return 'Success was not measured apart from training.'
  const rows = latest.map(({ step, split, solved, scorable, reward, precision, policy, greedy }) => {
    const [low, high] = wilson(solved, scorable)
    const share = scorable === 0 ? '–' : PERCENT.format(solved / scorable)
    return [precision, `${split === 'heldout' ? 'held out' : 'training'}${greedy ? ', greedy' : ''}`, policy ? 'base model alone' : step === 0 ? '0 (the start)' : String(step), `${solved} of ${scorable}`, share, `${PERCENT.format(low)} – ${PERCENT.format(high)}`, scorable === 0 ? '–' : number(reward)]
  })
  const head = 'Fixed scenarios, played once each, sampled at temperature 1 without top-k, top-p or min-p unless it says greedy. The interval is Wilson’s.'
  const measured = new Set(latest.map(({ precision }) => precision))
  const bases =
    quantised && !measured.has('float32')
      ? `\n\nThe adapter was trained and measured on a base whose weights were kept as ${config.precision}. On the base as it is published its success was not measured, and may differ.`
      : measured.size > 1
        ? '\n\nThe same adapter was measured on the base in more than one precision.'
        : ''
  return `${head}\n\n${table(['base weights', 'scenarios', 'after step', 'solved', 'success', '95 % interval', 'mean reward'], rows)}${bases}`
}
