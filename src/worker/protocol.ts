/** The whole contract between page and worker. The page never sees a tensor; the worker never sees the DOM. */

import type { BenchModelName, BenchReport } from '../core/bench-report'
import type { Backend, Precision, RunConfig } from '../core/config'
import type { EnvironmentSpec, PromptSource } from '../core/environment-spec'
import type { DatasetFacts } from '../core/dataset'
import type { DiscoveredEnvironment } from '../core/discovered'
import type { MemberFacts } from '../core/environment'
import type { Author } from '../core/episode'
import type { DryRunReport } from '../core/dry-run'
import type { EngineReport, LoadProgress } from '../core/events'
import type { DeviceReport, MemoryPlan, Verdict } from '../core/plan'
import type { RunState, StepRecord, TrainEvent } from '../core/events'
import type { Examination, PolicyComparison } from '../core/examination'
import type { EvaluationHow, EvaluationRecord, KeptEpisode, RunRecord, StepSummary } from '../core/run-record'
import type { StageKind, StageMeasure, StageRecord, StageSettings, StageSource } from '../core/stage'
import type { Tool, ToolCall } from '../core/tools'
import type { DatasetReference } from '../hub/datasets/reference'
import type { StoredModel } from '../hub/model-store'
import type { PublishProgress } from '../hub/publish-connection'

/** Page → worker. */
export type Command =
  /** Loads (or keeps) model and engine for this config, connects the environment, resets the adapter to step 0. */
  | { type: 'configure'; config: RunConfig }
  | { type: 'train' }
  /** The run goes on to another end: the next train or step begins with these. */
  | { type: 'extend'; max_steps: number; target_reward: number | null }
  /** Goes on to the end of a GRPO step (so without `grain`), of the next episode, or of the next token, and pauses there. */
  | { type: 'step'; grain?: Grain }
  /** At most so many tokens a second in each slot, for reading along; null: as fast as it goes. */
  | { type: 'pace'; tokensPerSecond: number | null }
  /** What the adapter as it is now and the base model think of these tokens; answered by one 'examined'. Between steps and while paused. */
  | { type: 'examine'; requestId: number; sequences: { ids: number[]; mask: (0 | 1)[] }[] }
  /** Plays one episode with the base model alone and one with the LoRA, same prompt and seeds; answered by one 'compared'. */
  | { type: 'compare'; requestId: number; seed: number; split: 'train' | 'heldout'; temperature: number }
  /** Tokenises a stage's data and shows what it would train on; answered by one 'stage-looked'. Trains nothing. */
  | { type: 'stage-look'; requestId: number; kind: StageKind; dataset: StageDataset; settings: StageSettings; from: number; count: number }
  /** Trains a stage on the loaded adapter, between GRPO steps; told by 'stage-state' and 'stage-progress', and at its end by 'stages'. */
  | { type: 'stage'; kind: StageKind; dataset: StageDataset; settings: StageSettings }
  /** Between two optimizer steps of the stage; 'stop' keeps what was trained. 'stop' ends a download of its data, too. */
  | { type: 'stage-control'; do: 'pause' | 'go-on' | 'stop' }
  /** Plays a few episodes and times a training pass that changes nothing; told by 'dry-run-progress' and answered by one 'dry-run-done'. Between steps. */
  | { type: 'dry-run'; requestId: number }
  /** Makes a row of the episode that a person played last; answered by one 'stage-rows'. */
  | { type: 'stage-play'; requestId: number }
  /** Makes rows of the last finished step's episodes; answered by one 'stage-rows'. `least`: reward of an episode that is worth imitating. */
  | { type: 'stage-rows'; requestId: number; kind: StageKind; least: number }
  /** Reads a dataset of prompts, to be seen before a run is made of it; answered by one 'prompts-looked'. It ends the look before it. */
  | { type: 'prompts-look'; requestId: number; dataset: PromptSource | { kind: 'file'; name: string; file: Blob } }
  /** Ends the look that goes on. */
  | { type: 'prompts-stop' }
  /** A port to the page's sandbox of these hosts, for code of the person's own that was allowed with them. */
  | { type: 'sandbox'; hosts: string[]; port: MessagePort }
  /** Measures this machine with engines of its own; told by 'bench-progress' and answered by one 'bench-done'. A run that goes on ends it. */
  | { type: 'bench'; requestId: number; backend: Backend | 'auto' }
  | { type: 'bench-stop' }
  /** Pause after the current token; the step resumes where it stood. */
  | { type: 'pause' }
  /** Back to step 0 with a fresh adapter. */
  | { type: 'reset' }
  /** Stops the download that a configure began; what has come is kept. */
  | { type: 'pause-load' }
  /** Gives a load up: the run before it goes on where it stood; without one, `back` is configured. What has come is kept. */
  | { type: 'cancel-load'; back: RunConfig }
  /** The Hub token for gated and private repositories; kept in memory alone. null forgets it. */
  | { type: 'token'; token: string | null }
  /** What would loading this config's model take? Answered by 'inspection'; downloads only config.json and file lists. */
  | { type: 'inspect'; requestId: number; config: RunConfig }
  /** Answered by 'stored-models'. */
  | { type: 'list-stored' }
  /** Deletes a stored model; answered by 'stored-models'. */
  | { type: 'delete-stored'; key: string }
  /** The two files of a PEFT adapter, to be named by config.adapter {kind: 'file', name}. */
  | { type: 'give-adapter'; name: string; config: string; weights: ArrayBuffer }
  /** Train although the self-test failed. */
  | { type: 'trust-device' }
  /** One user turn with the loaded model; answered by 'chat-tokens' and one 'chat-ended'. The last call's conversation goes on unless `fresh`. */
  | { type: 'chat'; requestId: number; text: string; options: ChatOptions }
  | { type: 'chat-stop' }
  /** A person plays an episode of the environment, in a session beside the run's; answered by one 'play-result'. */
  | { type: 'play'; requestId: number; action: PlayAction }
  /** Success rate over fixed-seed episodes on both splits, sampled at temperature 1 or greedy, of the base model too if asked. */
  | ({ type: 'evaluate'; requestId: number; episodes: number } & EvaluationHow)
  /** Ends whatever evaluation a person has asked for; it is answered by 'evaluation-failed'. */
  | { type: 'evaluate-stop' }
  /** Writes a checkpoint of the last finished step now: the page is being hidden or left. */
  | { type: 'save' }
  /** Goes on with a kept run at its newest checkpoint; answered by 'configured' and 'restored', by 'resume-refused', or by a failed state. */
  | { type: 'resume'; id: string; precision?: Precision }
  /** Answered by 'runs'. */
  | { type: 'list-runs' }
  | { type: 'edit-run'; id: string; name?: string; notes?: string }
  /** Answered by 'runs', like the two above. */
  | { type: 'delete-run'; id: string }
  /** The steps of a kept run, to be compared; answered by one 'run-history'. */
  | { type: 'read-history'; requestId: number; id: string }
  /** Makes files of a kept run, at its newest checkpoint, or of the loaded one, at its last step; answered by one 'exported'. */
  | { type: 'export'; requestId: number; id: string; kind: ExportKind }
  /** Puts files of a kept run on the Hub; answered by 'publish-progress' and one 'published'. */
  | { type: 'publish'; requestId: number; id: string; target: PublishTarget }
  /** Gives an upload up; what was not committed is not there. */
  | { type: 'publish-stop'; requestId: number }
  /** Shows trajectories that were taken away, JSONL or Parquet, as a run to look at; answered by 'restored' or a notice. */
  | { type: 'import-trajectories'; name: string; file: Blob }

/** A dataset of prompts, as a run would read it. */
export interface PromptsLook {
  /** What a run's environment names: a file has become its text. */
  dataset: PromptSource
  facts: DatasetFacts
  /** Prompts that are texts and become messages of the user. */
  texts: number
  /** Rows that cannot be used: how many, and the first of them as sentences. */
  problems: { count: number; first: string[] }
  /** There are more rows than are read. */
  more: boolean
  /** Of a dataset on the Hub: what else can be chosen. */
  choices: { config: string; splits: string[] }[]
  /** The first rows, long texts cut. */
  examples: { place: string; prompt: { role: string; content: string }[]; columns: Record<string, string> }[]
}

/** Rows in TRL's formats. `name` is what a person sees: a file's, or where the rows come from. */
export type StageDataset = { name: string; text: string } | { name: string; file: Blob } | { name: string; hub: DatasetReference }

/** One row as it is trained on: one part for SFT, the chosen and the rejected answer for DPO. */
export interface StageExample {
  /** "line 3". */
  place: string
  parts: { tokens: StageToken[]; promptLength: number; /** Tokens cut off at the end. */ cut: number }[]
}

/** `target`: the loss acts on it. */
export type StageToken = Pick<ChatToken, 'id' | 'text' | 'author'> & { target: boolean }

/** What a stage would train on. */
export interface StageLook {
  /** Rows that are trained on, and the tokens and targets of all of them. */
  rows: number
  tokens: number
  targets: number
  /** Optimizer steps that it takes. */
  steps: number
  /** Tokens that a row may have: max_length, or the context of the loaded model where that is shorter. */
  maxLength: number
  shortened: number
  mismatched: number
  /** How many there are of each, and the first of them as sentences. */
  problems: { count: number; first: string[] }
  dropped: { count: number; first: string[] }
  /** Of a dataset on the Hub: where in it the rows are, what else can be chosen, and whether there are more of them. */
  hub: (StageSource & { choices: { config: string; splits: string[] }[]; more: boolean }) | null
  /** Rows from `from` on. */
  from: number
  examples: StageExample[]
}

export type StageState =
  | { state: 'preparing' | 'training' | 'pausing' | 'paused' }
  /** DPO where every weight is trained: its pairs are scored with the model as it is, before it changes. */
  | { state: 'scoring'; batches: number; of: number }
  /** `error`: why it ended early, or ''. What was trained until then is kept. */
  | { state: 'ended'; steps: number; error: string }

export type PlanDoing = 'before' | 'rows' | 'training' | 'after'

export const GRAINS = ['token', 'episode', 'step'] as const
/** How far one press of Step goes. */
export type Grain = (typeof GRAINS)[number]

/** The loaded run, whose newest weights are in memory alone, as it would be kept at that step; `why` it is not, '' where it only was not due. */
export interface UnkeptRun {
  run: RunRecord
  why: string
}

/** What can be taken away of a run. Several files come as one zip. */
export type ExportKind = 'adapter' | 'merged' | 'trajectories.jsonl' | 'trajectories.parquet' | 'metrics.csv' | 'trackio' | 'trl' | 'everything'

/** Where on the Hub a run goes. */
export interface PublishTarget {
  /** 'adapter': the LoRA with its card; 'merged': a whole model; 'trajectories': a dataset. */
  what: 'adapter' | 'merged' | 'trajectories'
  /** owner/name. */
  repo: string
  /** 'new': a repository that holds files is refused (`exists` of the result); 'existing': its files of the same names are replaced. */
  into: 'new' | 'existing'
  private: boolean
  /** As a pull request to a repository that exists. */
  asPullRequest: boolean
}

export type PublishResult =
  /** `url`: the repository or the pull request. `verified`: size and hash of every file were read back and agree. */
  | { ok: true; url: string; commit: string; verified: boolean }
  /** `exists`: a new repository was asked for, and one with files has this name; the same can be published into it. */
  | { ok: false; error: string; advice: string; canRetry: boolean; exists?: true }

export interface ChatOptions {
  /** Begin a new conversation with this turn. */
  fresh: boolean
  /** With the LoRA as it is now, or the base model alone. */
  adapter: 'current' | 'off'
  enable_thinking: boolean
  /** Show the environment's tools to the model and answer its calls by a session of the environment. */
  tools: boolean
  temperature: number
  max_new_tokens: number
}

/** A piece of a chat's transcript, append-only. */
export interface ChatToken {
  id: number
  text: string
  author: Author
}

/** What an episode that is played by hand is made of: what the model would see with these settings. */
export type PlaySetup = Pick<RunConfig, 'environment' | 'network_hosts' | 'tool_edits' | 'system_prompt' | 'user_prompt' | 'enable_thinking'>

/** What a person does. */
export type PlayAction =
  /** Ends the episode that is being played, if any, and begins one in a fresh session. */
  | { do: 'reset'; setup: PlaySetup; seed: number }
  | { do: 'call'; call: ToolCall }
  /** Asks for the environment's own account; what may hold the answer is hidden until the episode is over. */
  | { do: 'state' }
  /** Ends the episode, also one that is only being begun. */
  | { do: 'end' }
  /** Resets fresh sessions, one after the other, many times with this seed and once with each of some others. */
  | { do: 'compare'; setup: PlaySetup; seed: number }

/** A raw frame of the play session's socket. */
export interface PlayFrame {
  direction: 'sent' | 'received'
  /** Cut where it is huge; `bytes` is the size of the whole. */
  text: string
  bytes: number
  /** Milliseconds since 1970. */
  time: number
  /** Fields that may hold the answer were hidden in `text`. */
  hidden?: true
}

/** What the environment said, as the model would get it. */
export interface PlayObservation {
  text: string
  reward: number | null
  done: boolean
  toolError: boolean
  /** null where the call never reached the environment. */
  ms: number | null
  scene?: unknown
  metadata: Record<string, unknown>
}

export type PlayResult =
  /** `prompt`: the whole first prompt, rendered by the model's chat template. */
  | { kind: 'begun'; seed: number; observation: PlayObservation; prompt: string; tools: Tool[]; hasState: boolean }
  | { kind: 'answered'; call: ToolCall; observation: PlayObservation }
  | { kind: 'state'; state: Record<string, unknown> }
  | { kind: 'ended' }
  | ({ kind: 'compared'; seed: number } & SeedComparison)
  /** `over`: there is no episode any more. */
  | { kind: 'failed'; error: string; over: boolean }

/** What resetting many times with one seed, and with others, gave. */
export interface SeedComparison {
  /** 'constant': always the same, also with other seeds. 'mixed': alike more often than with other seeds, but not always. */
  verdict: 'honoured' | 'ignored' | 'constant' | 'mixed'
  /** How many resets were compared: with the seed, with others; and how many different starts the seed gave. */
  counts: { resets: number; others: number; starts: number }
  /** Of 'honoured': how often an environment that ignores seeds would look so by chance, 0..1. Else null. */
  chance: number | null
  /** What the model would read: twice the same seed, different where that was seen, then another seed, likewise. */
  observations: [string, string, string]
  /** Fields of the environment's state that differ although the seed is the same, where it tells its state. */
  stateDiffers: string[]
}

/** What a model would take, from its small files alone. */
export interface Inspection {
  model: string
  /** Commit. */
  revision: string
  architecture: string
  parameters: number
  layers: number
  /** Bytes still to download, and those that are stored here already. */
  downloadBytes: number
  storedBytes: number
  device: DeviceReport
  /** That would compute: plan and verdict are for it. */
  backend: Backend
  plan: MemoryPlan
  verdict: Verdict
}

/** Success rates of an evaluation, 0..1; heldOut is null where the environment has no splits. */
export interface EvaluationResult {
  train: number
  heldOut: number | null
  episodes: number
  /** What of it is kept with the run: the figures behind the rates. */
  records?: EvaluationRecord[]
}

/** Worker → page. */
export type Message =
  | { type: 'state'; state: RunState }
  | { type: 'engine'; report: EngineReport }
  | {
      type: 'environment'
      spec: EnvironmentSpec
      tools: Tool[]
      /** Before a person's edits; absent where there are none. */
      ownTools?: Tool[]
      prompts: { system: string; user: string }
      maxSessions: number | null
      /** Environment.heldOut; absent from a sender that does not say. */
      heldOut?: boolean
      /** What was found out at the server; absent for what is built in. Its tools are without a person's edits. */
      discovered?: DiscoveredEnvironment
      /** The dataset that it reads; absent for none. */
      dataset?: DatasetFacts
      /** Of several environments, each; tools and prompts above are the first one's. */
      members?: MemberFacts[]
    }
  | { type: 'event'; event: TrainEvent }
  /** A configure failed and the run before it goes on: these are its settings. */
  | { type: 'configured'; config: RunConfig }
  /** A person pressed Reset: forget the curve. */
  | { type: 'cleared' }
  | { type: 'inspection'; requestId: number; result: { ok: true; inspection: Inspection } | { ok: false; error: string; advice: string } }
  | { type: 'stored-models'; models: StoredModel[]; storage: DeviceReport['storage'] }
  | { type: 'chat-tokens'; requestId: number; tokens: ChatToken[] }
  /** error: a sentence where there is more to say than the reason; never empty when 'failed'. */
  | { type: 'chat-ended'; requestId: number; reason: 'end-of-turn' | 'length' | 'stopped' | 'failed'; error: string }
  /** Of the episode that is played by hand; its `step` counts these episodes from 1. */
  | { type: 'play-event'; event: TrainEvent }
  | { type: 'play-frames'; frames: PlayFrame[] }
  | { type: 'play-result'; requestId: number; result: PlayResult }
  /** The episode was ended by the run, which needs its session. */
  | { type: 'play-ended'; reason: string }
  /**
   * The runs that this browser keeps, newest first. `current` is the one that is loaded; `held`: they go on in other tabs; `problem` why nothing can
   * be kept, or ''. `unkept` is the loaded one where its newest weights are in memory alone, as it would be kept at that step.
   */
  | { type: 'runs'; runs: RunRecord[]; current: string | null; held: string[]; storage: DeviceReport['storage']; problem: string; unkept: UnkeptRun | null }
  /** A kept run is not gone on with; what was there stays as it was. */
  | { type: 'resume-refused'; id: string; why: string }
  | { type: 'run-history'; requestId: number; id: string; history: StepSummary[] }
  /** A kept run stands in place of what was there: its steps, and the episodes of the last ones. */
  | { type: 'restored'; run: RunRecord; history: StepSummary[]; episodes: KeptEpisode[][] }
  | { type: 'exported'; requestId: number; result: { ok: true; name: string; file: Blob } | { ok: false; error: string; advice: string } }
  | { type: 'publish-progress'; requestId: number; progress: PublishProgress }
  | { type: 'published'; requestId: number; result: PublishResult }
  | { type: 'examined'; requestId: number; result: { ok: true; examinations: Examination[] } | { ok: false; error: string } }
  | { type: 'compared'; requestId: number; result: { ok: true; comparison: PolicyComparison } | { ok: false; error: string } }
  | { type: 'prompts-looked'; requestId: number; result: { ok: true; look: PromptsLook } | { ok: false; error: string; advice: string } }
  /** Bytes of the dataset that have come so far. */
  | { type: 'prompts-reading'; requestId: number; bytes: number }
  | { type: 'stage-looked'; requestId: number; result: { ok: true; look: StageLook } | { ok: false; error: string } }
  /** JSONL; no rows with the reason. */
  /** Bytes of a dataset on the Hub that have come so far, while a look or a stage waits for it. */
  | { type: 'stage-reading'; bytes: number }
  | { type: 'stage-rows'; requestId: number; result: { ok: true; name: string; text: string; rows: number } | { ok: false; error: string } }
  | { type: 'stage-state'; kind: StageKind; state: StageState }
  /** TRL's metrics of an optimizer step; `step` counts from 1. */
  | { type: 'stage-progress'; kind: StageKind; step: number; steps: number; metrics: Record<string, number | null> }
  /** How a stage of the run's own plan goes: the policy is measured before and after it, its rows are played, it is trained. With the measure before it, once there is one, and the metrics of the optimizer step that ended. */
  | { type: 'plan'; kind: StageKind; at: number; stages: number; doing: PlanDoing; done: number; of: number; before?: StageMeasure; metrics?: Record<string, number | null> }
  /** All stages that the loaded run has been through. */
  | { type: 'stages'; stages: StageRecord[] }
  /** Episodes of a dry run that have ended. */
  | { type: 'dry-run-progress'; requestId: number; done: number; total: number }
  | { type: 'dry-run-done'; requestId: number; result: { ok: true; report: DryRunReport } | { ok: false; error: string } }
  /** Parts of a benchmark that are done, and its figures by now; `model` is being measured. */
  | { type: 'bench-progress'; requestId: number; done: number; total: number; model: BenchModelName; report: BenchReport }
  | { type: 'bench-done'; requestId: number; result: { ok: true; report: BenchReport } | { ok: false; error: string } }
  | { type: 'evaluation'; requestId: number; result: EvaluationResult }
  | { type: 'evaluation-failed'; requestId: number; error: string }

export type { LoadProgress, PublishProgress, RunState, StepRecord, StoredModel, TrainEvent }

// Plain data that both sides share.
export { PRESETS, presetById, presetConfig, presetOf, presetOfRun, TINY_BASE, TINY_GRPO, TINY_MODEL, type Preset } from '../env/presets'
