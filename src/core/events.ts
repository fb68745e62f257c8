/** Everything the training loop tells the outside; the panels are drawn from these and nothing else. */

import type { LoraConfig } from './config'
import type { EngineInfo } from './engine'
import type { RunEvaluation } from './evaluation'
import type { Author, Episode } from './episode'
import type { ErrorKind } from './errors'
import type { TokenAlternative } from './engine'
import type { TimelineSpan } from './timeline'

/** TRL's names → values; null where undefined (all-NaN). */
export type Metrics = Record<string, number | null>

/** An episode after scoring and the update. */
export interface ScoredEpisode extends Episode {
  advantage: number
  /** The training graph's log-probs before the update, [tokens]: π_old, but where the episode is stale; null before the update. */
  trainLogprobs: number[] | null
  /** Other weights than those that were updated had sampled it: π_old is what the sampler recorded, `logprobs`. */
  stale?: true
  entropies: number[] | null
  /** logπ_ref of the KL term, [tokens]; absent where beta is 0 or the episode was not trained on. */
  refLogprobs?: number[]
  /** The log-probs that the last of several optimizer steps began with, [tokens]; absent where there was one alone. */
  lastLogprobs?: number[]
  /** The base model's log-probs, [tokens]; where it was examined. */
  baseLogprobs?: number[]
  /** The log-probs after this step's update, [tokens]; where it was examined. */
  afterLogprobs?: number[]
}

export interface StepRecord {
  step: number
  episodes: ScoredEpisode[]
  /** One per group that was sampled: mean and ddof-1 standard deviation over scorable members, whether the group has a signal. */
  groups: { group: number; mean: number | null; std: number | null; unscorable: number; signal: boolean; /** Sampled again: not in the update. */ discarded?: true }[]
  metrics: Metrics
  /** Together what the step took. With max_staleness 1 what went on beside training counts as training alone. */
  seconds: { sampling: number; training: number }
  /** Adapter version after the update. */
  version: number
  /**
   * Where its time went; absent from recorders that did not measure it. With max_staleness 1 from the beginning of its sampling, with the
   * training of the step before beside it.
   */
  timeline?: TimelineSpan[]
}

/** An alternative with the text a person reads; text may be absent where the sender has no tokenizer at hand. */
export type TokenOption = TokenAlternative & { text?: string }

export interface AppendedToken {
  id: number
  text: string
  author: Author
  logprob: number | null
  top: TokenOption[] | null
  /** Absent: 1 for the model's tokens, 0 for all others. What a person wrote in the model's place has 0. */
  mask?: 0 | 1
}

export type TrainEvent =
  | { type: 'step-started'; step: number; episodes: number; groups: number }
  /** Groups without a signal are sampled again: `episodes` and `groups` of the step from now on, and the numbers of all groups that were replaced. */
  | { type: 'resampled'; step: number; episodes: number; groups: number; discarded: number[] }
  /** What was sampled of a step, ahead of its turn, goes into no update: the step is sampled again. */
  | { type: 'step-dropped'; step: number }
  | { type: 'episode-started'; step: number; index: number; group: number; seed: number; prompt: AppendedToken[]; scene?: unknown; /** Which of several plays it. */ environment?: string; /** Of its dataset row. */ columns?: Record<string, unknown>; rewardless?: true }
  | { type: 'tokens'; step: number; index: number; tokens: AppendedToken[] }
  | { type: 'environment-waiting'; step: number; index: number; turn: number }
  | { type: 'environment-answered'; step: number; index: number; turn: number; reward: number | null; rubric?: number; done: boolean; ms: number; scene?: unknown }
  /**
   * Episodes that have no session because the server allows no more at once; 0 ends it. `seconds`: about how long until the last of them
   * has one, by what episodes took so far; null before any was measured.
   */
  | { type: 'environment-queue'; step: number; waiting: number; sessions: number; seconds: number | null }
  /**
   * Half a sentence on an environment that is waited for: it failed and is tried again, a Space is woken, others fill its server. null
   * ends it, as does 'step-started'. `seconds`: until the next try, where the text does not count them itself.
   */
  | { type: 'environment-away'; text: string | null; seconds: number | null }
  | { type: 'episode-finished'; step: number; episode: Episode }
  /** `rewards`: by episode, what each reward function gave; with it the episodes' sums, and success where they alone decide it. Absent where the environment's reward is all there is. */
  | { type: 'scored'; step: number; advantages: number[]; groups: StepRecord['groups']; /** The step before is still being trained on. */ ahead?: true; rewards?: { reward: number | null; parts: Record<string, number | null>; success?: boolean }[] }
  | { type: 'training'; step: number; done: number; total: number }
  /** Spans that have ended since the last of these. */
  | { type: 'timeline'; step: number; spans: TimelineSpan[] }
  | { type: 'step-finished'; record: StepRecord }
  /** `step`: finished steps of a run that evaluates itself; absent where a person asked for it. */
  | { type: 'evaluation'; split: 'train' | 'heldout'; done: number; total: number; step?: number }
  /** A run has evaluated itself; nothing where that failed. */
  | { type: 'evaluated'; records: RunEvaluation[] }
  | { type: 'notice'; level: 'info' | 'warning'; text: string }

/** What is being loaded. Bytes; null while unknown. */
export interface LoadProgress {
  /** A file, or 'environment', 'tokenizer', 'engine', 'self-test'. */
  what: string
  done: number
  total: number | null
  /** What is waited for, in the words of whom it is waited for: a Space that is woken. Instead of the usual sentence. */
  detail?: string
  /** All files of the model together, while there are several or it is a download. */
  overall?: { done: number; total: number; bytesPerSecond: number | null; secondsLeft: number | null; fromDisk: boolean }
}

export type RunState =
  | ({ state: 'loading' } & LoadProgress)
  /** A person paused the download; what has come is kept, and configuring again goes on from there. */
  | { state: 'load-paused'; done: number; total: number | null; /** Where nothing was downloaded yet: what was waited for. */ what?: 'environment' }
  | { state: 'ready' }
  | { state: 'running'; until: 'limit' | 'one-step' | 'one-episode' | 'one-token' }
  /** Asked to pause; the current token, or the update, is being finished. */
  | { state: 'pausing' }
  /** `step`: finished ones. `at`: Step went on by this grain, and the step is in its middle. */
  | { state: 'paused'; step: number; at?: 'token' | 'episode' }
  | { state: 'finished'; step: number; reason: 'step-limit' | 'target-reward' }
  | { state: 'failed'; error: string; advice: string; recoverable: boolean; /** Absent for what nobody foresaw. */ kind?: ErrorKind }

/** WebGPU against WASM on a slice of the same weights, at load. */
export interface SelfTestReport {
  ok: boolean
  /** GPU adapter's name. */
  adapter: string
  /** Largest difference of a log-prob, nats, and of the LoRA gradient relative to its norm. */
  logprobError: number
  gradientError: number
  /** One sentence that says what differed, or what kept the test from running; '' when ok. */
  problem: string
}

export interface EngineReport {
  info: EngineInfo
  /** null where there was nothing to compare (WASM). */
  selfTest: SelfTestReport | null
  /** The LoRA that was loaded or made; absent from a sender that does not say. */
  lora?: LoraConfig | null
  /** Measured at load. */
  loadSeconds: number
}
