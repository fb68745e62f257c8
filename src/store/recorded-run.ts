/** The recorded run that the site ships: its file's form, checked at the edge, and the episodes as they would come from the archive. */

import { z } from 'zod'
import type { RunConfig } from '../core/config'
import type { Author } from '../core/episode'
import type { TokenOption } from '../core/events'
import type { KeptEpisode, RunRecord, StepSummary } from '../core/run-record'

export const RECORDED_RUN_VERSION = 1

/** One letter per token: who wrote it. Only the model's tokens are trained on in this file. */
export const AUTHOR_LETTERS: Readonly<Record<Author, string>> = { model: 'm', environment: 'e', template: 't' }
const AUTHOR_OF: Readonly<Record<string, Author>> = { m: 'model', e: 'environment', t: 'template' }

/** Log-probs, entropies and probabilities are whole numbers of this part: what people read of them, in half the room. */
export const PART = 1e6

const number = z.number()
const text = z.string()
const whole = z.int().min(0)
const some = number.nullable()

const isWhole = (value: unknown): value is number => Number.isInteger(value)
/** Checked in one go: there are a hundred thousand of them, and the page is waiting. */
const wholes = z.custom<number[]>((value) => Array.isArray(value) && value.every(isWhole))
const lists = z.custom<number[][]>((value) => Array.isArray(value) && value.every((list: unknown) => Array.isArray(list) && list.every(isWhole)))

const callSchema = z.object({
  call: z.object({ name: text, arguments: z.record(text, z.unknown()) }),
  result: text,
  reward: some,
  done: z.boolean(),
  error: z.boolean(),
  ms: number,
  refused: z.literal(true).optional(),
})

const turnSchema = z.object({
  start: whole,
  end: whole,
  resultEnd: whole,
  calls: z.array(callSchema),
  parseError: text.nullable(),
  parseErrors: whole.optional(),
  scene: z.unknown().optional(),
})

const episodeSchema = z.object({
  index: whole,
  group: whole,
  seed: number,
  /** After the prompt. */
  ids: wholes,
  authors: z.string().regex(/^[met]*$/),
  /** These are of the model's tokens alone, in order; nats, in parts. */
  logprobs: wholes,
  trainLogprobs: wholes,
  entropies: wholes,
  /** Of each of the model's tokens the likeliest: id, probability in parts, id, probability, … */
  alternatives: lists,
  turns: z.array(turnSchema),
  scene: z.unknown().optional(),
  reward: number,
  success: z.boolean().optional(),
  exit: z.enum(['env_done', 'answered', 'turn_limit', 'token_limit']),
  terminated: z.boolean(),
  advantage: number,
})

const stepSchema = z.object({
  /** Episodes that the update went through. */
  trained: whole,
  /** By group: its episodes begin with the same tokens. */
  prompts: z.array(z.object({ ids: wholes, authors: z.string().regex(/^[et]*$/) })),
  episodes: z.array(episodeSchema).min(1),
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
  history: z.array(summarySchema).min(1),
  steps: z.array(stepSchema).min(1),
})

/** The file's content as JSON. */
export type RecordedRunFile = z.input<typeof fileSchema>

export interface RecordedRun {
  run: RunRecord
  history: StepSummary[]
  /** By step, in the order of `history`. */
  steps: readonly RecordedStep[]
}

export interface RecordedStep {
  /** Episodes that the update went through. */
  readonly trained: number
  /** Made of the file when they are first asked for, then kept. */
  readonly episodes: readonly KeptEpisode[]
}

/** Checks what was fetched. Throws an Error (zod's, or ours on lengths that disagree) on anything that is not a whole recorded run. */
export function readRecordedRun(data: unknown): RecordedRun {
  const file = fileSchema.parse(data)
  const { config, engine, environment, history, createdAt } = file
  if (history.length !== file.steps.length) throw new Error(`${history.length} summaries for ${file.steps.length} steps`)
  const texts = new Map(file.texts)
  const last = history.length
  return {
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
      return {
        trained: step.trained,
        get episodes() {
          return (made ??= step.episodes.map((episode) => readEpisode(episode, step.prompts[episode.group] as Prompt, number, texts)))
        },
      }
    }),
  }
}

type PackedEpisode = z.output<typeof episodeSchema>
type Prompt = z.output<typeof stepSchema>['prompts'][number]

function checkEpisode(where: string, episode: Omit<PackedEpisode, 'index' | 'group'>, prompt: Prompt | undefined, texts: ReadonlyMap<number, string>) {
  const { ids, authors, logprobs, trainLogprobs, entropies, alternatives } = episode
  if (!prompt) throw new Error(`${where}: its group has no prompt`)
  const sampled = authors.replaceAll(/[et]/g, '').length
  const agree = ids.length === authors.length && prompt.ids.length === prompt.authors.length
  if (!agree || [logprobs, trainLogprobs, entropies, alternatives].some(({ length }) => length !== sampled)) throw new Error(`${where}: lengths disagree`)
  const strange = [...prompt.ids, ...ids, ...alternatives.flatMap((flat) => flat.filter((_, i) => i % 2 === 0))].find((id) => !texts.has(id))
  if (strange !== undefined) throw new Error(`${where}: token ${strange} has no text`)
}

function readEpisode(episode: PackedEpisode, prompt: Prompt, step: number, texts: ReadonlyMap<number, string>): KeptEpisode {
  const { index, group, seed, turns, scene, reward, success, exit, terminated, advantage } = episode
  const ids = [...prompt.ids, ...episode.ids]
  const authors = [...(prompt.authors + episode.authors)].map((letter) => AUTHOR_OF[letter] as Author)
  const mask = authors.map((author): 0 | 1 => (author === 'model' ? 1 : 0))
  const textOf = (id: number) => texts.get(id) ?? ''
  /** The model's tokens get theirs in order, all others `rest`. */
  const spread = <T, R>(values: readonly T[], rest: R): (T | R)[] => {
    let next = 0
    return mask.map((bit) => (bit === 1 ? (values[next++] as T) : rest))
  }
  const nats = (parts: readonly number[]) => spread(parts.map((value) => value / PART), 0)
  return {
    step,
    index,
    group,
    seed,
    ids,
    mask,
    logprobs: nats(episode.logprobs),
    authors,
    alternatives: spread(episode.alternatives.map((flat) => optionsOf(flat, textOf)), null),
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
    trainLogprobs: nats(episode.trainLogprobs),
    entropies: nats(episode.entropies),
    texts: ids.map(textOf),
    prompt: '',
    completion: '',
  }
}

function optionsOf(flat: readonly number[], textOf: (id: number) => string): TokenOption[] {
  return Array.from({ length: flat.length >> 1 }, (_, i) => {
    const id = flat[2 * i] as number
    return { id, prob: (flat[2 * i + 1] as number) / PART, text: textOf(id) }
  })
}
