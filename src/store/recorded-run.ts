/** The recorded run that the site ships: its file's form, checked at the edge, and the episodes as they would come from the archive. */

import { z } from 'zod/mini'
import type { RunConfig } from '../core/config'
import type { Author } from '../core/episode'
import type { PolicyComparison } from '../core/examination'
import type { TimelineSpan } from '../core/timeline'
import { type KeptEpisode, type RunRecord, type StepSummary, withEarlierSettings, withSpans } from '../core/run-record'
import { checkComparison, comparisonSchema, readComparisons } from './recorded-comparisons'
import { AUTHOR_OF, authorsOf, exits, fromParts, lists, number, optionsOf, some, spread, text, whole, wholes } from './recorded-fields'
import { readTimeline, timelineSchema } from './recorded-timeline'

export const RECORDED_RUN_VERSION = 2

const callSchema = z.object({
  call: z.object({ name: text, arguments: z.record(text, z.unknown()) }),
  result: text,
  reward: some,
  done: z.boolean(),
  error: z.boolean(),
  ms: number,
  refused: z.optional(z.literal(true)),
})

const turnSchema = z.object({
  start: whole,
  end: whole,
  resultEnd: whole,
  calls: z.array(callSchema),
  parseError: z.nullable(text),
  parseErrors: z.optional(whole),
  scene: z.optional(z.unknown()),
})

const episodeSchema = z.object({
  index: whole,
  group: whole,
  seed: number,
  /** After the prompt. */
  ids: wholes,
  authors: authorsOf.all,
  /** These are of the model's tokens alone, in order; nats, in parts. */
  logprobs: wholes,
  trainLogprobs: wholes,
  entropies: wholes,
  /** Under the base model alone, and under the adapter after this step's update. */
  baseLogprobs: wholes,
  afterLogprobs: wholes,
  /** Of each of the model's tokens the likeliest: id, probability in parts, id, probability, … */
  alternatives: lists,
  turns: z.array(turnSchema),
  scene: z.optional(z.unknown()),
  reward: number,
  success: z.optional(z.boolean()),
  exit: exits,
  terminated: z.boolean(),
  advantage: number,
})

const stepSchema = z.object({
  /** Episodes that the update went through. */
  trained: whole,
  /** By group: its episodes begin with the same tokens. */
  prompts: z.array(z.object({ ids: wholes, authors: authorsOf.given })),
  episodes: z.array(episodeSchema).check(z.minLength(1)),
  timeline: z.optional(timelineSchema),
})

const summarySchema = z.object({
  step: whole,
  metrics: z.record(text, some),
  rewardMin: some,
  rewardMax: some,
  groups: z.array(z.object({ group: whole, mean: some, std: some, unscorable: whole, signal: z.boolean() })),
  episodes: whole,
  unscorable: whole,
  seconds: z.object({ sampling: number, training: number }),
  version: whole,
})

const toolSchema = z.object({
  type: z.literal('function'),
  function: z.object({ name: text, description: text, parameters: z.record(text, z.unknown()) }),
})

/** The page compares it with its own settings and reads no more of it. */
const configSchema = z.custom<RunConfig>((value) => z.looseObject({ environment: z.object({ kind: z.literal('builtin') }), model: text }).safeParse(value).success)

const fileSchema = z.object({
  format: z.literal('grpo-playground recorded run'),
  version: z.literal(RECORDED_RUN_VERSION),
  /** Milliseconds since 1970. */
  createdAt: number,
  config: configSchema,
  engine: z.object({ backend: z.enum(['webgpu', 'wasm']), device: text, threads: whole, model: text, parameters: whole, trainable: whole, vocabSize: whole, ortVersion: text }),
  environment: z.object({ tools: z.array(toolSchema), prompts: z.object({ system: text, user: text }) }),
  /** Text of every token that occurs, by its id. */
  texts: z.array(z.tuple([whole, text])),
  history: z.array(summarySchema).check(z.minLength(1)),
  steps: z.array(stepSchema).check(z.minLength(1)),
  comparisons: z.array(comparisonSchema),
})

/** The file's content as JSON. */
export type RecordedRunFile = z.input<typeof fileSchema>

export interface RecordedRun {
  run: RunRecord
  history: StepSummary[]
  /** By step, in the order of `history`. */
  steps: readonly RecordedStep[]
  /** The base model and the LoRA after some of the steps, by their first seeds; made of the file when they are first asked for. */
  readonly comparisons: readonly PolicyComparison[]
}

export interface RecordedStep {
  /** Episodes that the update went through. */
  readonly trained: number
  /** Made of the file when they are first asked for, then kept. */
  readonly episodes: readonly KeptEpisode[]
  /** Where its time went, where that was recorded. */
  readonly timeline?: readonly TimelineSpan[]
}

/** Checks what was fetched. Throws an Error (zod's, or ours on lengths that disagree) on anything that is not a whole recorded run. */
export function readRecordedRun(data: unknown): RecordedRun {
  const file = fileSchema.parse(data)
  const { engine, environment, history, createdAt } = file
  const config = withEarlierSettings(file.config)
  if (history.length !== file.steps.length) throw new Error(`${history.length} summaries for ${file.steps.length} steps`)
  const texts = new Map(file.texts)
  const last = history.length
  for (const comparison of file.comparisons) checkComparison(comparison, texts)
  let comparisons: PolicyComparison[] | null = null
  return {
    get comparisons() {
      return (comparisons ??= file.comparisons.flatMap((comparison) => readComparisons(comparison, texts)))
    },
    run: {
      id: '',
      name: '',
      notes: '',
      createdAt,
      updatedAt: createdAt,
      config,
      modelSha: null,
      lora: config.lora,
      engine,
      environment: { name: config.environment.kind === 'builtin' ? config.environment.name : '', ...environment },
      step: last,
      // Nothing goes on from it; the number tells restore() that it was a run of this page, with all its log-probs.
      checkpoint: last,
      finished: true,
      evaluations: [],
      bytes: 0,
      droppedSteps: 0,
      version: '',
    },
    history,
    steps: file.steps.map((step, i) => {
      const number = (history[i] as StepSummary).step
      if (number !== i + 1) throw new Error(`Step ${number} stands in place ${i + 1}`)
      for (const { index, group, ...episode } of step.episodes) checkEpisode(`step ${number}, episode ${index}`, episode, step.prompts[group], texts)
      let made: KeptEpisode[] | null = null
      const timeline = step.timeline && readTimeline(step.timeline)
      return {
        trained: step.trained,
        ...(timeline && { timeline }),
        get episodes() {
          return (made ??= withSpans(step.episodes.map((episode) => readEpisode(episode, step.prompts[episode.group] as Prompt, number, texts)), timeline))
        },
      }
    }),
  }
}

type PackedEpisode = z.output<typeof episodeSchema>
type Prompt = z.output<typeof stepSchema>['prompts'][number]

function checkEpisode(where: string, episode: Omit<PackedEpisode, 'index' | 'group'>, prompt: Prompt | undefined, texts: ReadonlyMap<number, string>) {
  const { ids, authors, logprobs, trainLogprobs, entropies, baseLogprobs, afterLogprobs, alternatives } = episode
  if (!prompt) throw new Error(`${where}: its group has no prompt`)
  const sampled = authors.replaceAll(/[et]/g, '').length
  const agree = ids.length === authors.length && prompt.ids.length === prompt.authors.length
  if (!agree || [logprobs, trainLogprobs, entropies, baseLogprobs, afterLogprobs, alternatives].some(({ length }) => length !== sampled)) throw new Error(`${where}: lengths disagree`)
  const strange = [...prompt.ids, ...ids, ...alternatives.flatMap((flat) => flat.filter((_, i) => i % 2 === 0))].find((id) => !texts.has(id))
  if (strange !== undefined) throw new Error(`${where}: token ${strange} has no text`)
}

function readEpisode(episode: PackedEpisode, prompt: Prompt, step: number, texts: ReadonlyMap<number, string>): KeptEpisode {
  const { index, group, seed, turns, scene, reward, success, exit, terminated, advantage } = episode
  const ids = [...prompt.ids, ...episode.ids]
  const authors = [...(prompt.authors + episode.authors)].map((letter) => AUTHOR_OF[letter] as Author)
  const mask = authors.map((author): 0 | 1 => (author === 'model' ? 1 : 0))
  const textOf = (id: number) => texts.get(id) ?? ''
  return {
    step,
    index,
    group,
    seed,
    ids,
    mask,
    logprobs: fromParts(mask, episode.logprobs),
    authors,
    alternatives: spread(mask, episode.alternatives.map((flat) => optionsOf(flat, textOf)), null),
    promptLength: prompt.ids.length,
    turns: turns.map(({ parseErrors, calls, ...turn }) => ({
      ...turn,
      calls: calls.map(({ refused, ...call }) => ({ ...call, ...(refused && { refused }) })),
      ...(parseErrors !== undefined && { parseErrors }),
    })),
    messages: [],
    scene,
    reward,
    ...(success !== undefined && { success }),
    exit,
    error: null,
    terminated,
    advantage,
    trainLogprobs: fromParts(mask, episode.trainLogprobs),
    entropies: fromParts(mask, episode.entropies),
    baseLogprobs: fromParts(mask, episode.baseLogprobs),
    afterLogprobs: fromParts(mask, episode.afterLogprobs),
    texts: ids.map(textOf),
    prompt: '',
    completion: '',
  }
}
