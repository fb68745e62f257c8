/** Reads a kept run back, to go on with it: what to load, what to put into the engine, what to tell the page. */

import type { Precision, RunConfig } from '../core/config'
import type { EngineInfo, TrainerState } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { KeptEpisode, RunRecord, StepSummary } from '../core/run-record'
import type { Tool } from '../core/tools'
import { VERSION } from '../core/version'
import type { GrpoTrainer } from '../train/grpo'
import type { Checkpoint, RunArchive } from './archive'
import type { RunJournal } from './journal'
import { runsElsewhere } from './run-lock'
import type { KeptStart, RunEngine, RunSetup } from './setup'

/** Steps whose episodes the page gets back: as many as it keeps of a run that it saw. */
const SHOWN_STEPS = 3

export interface KeptRun {
  record: RunRecord
  checkpoint: Checkpoint
  history: StepSummary[]
  episodes: KeptEpisode[][]
  /** Where it began. */
  at: KeptStart
  /** Its settings, as they were or on another base. */
  config: RunConfig
}

/**
 * Looked at before anything is given up for it: throws PlaygroundError('config') where the run is gone, has no checkpoint, or goes on in another tab.
 */
export async function assertResumable(archive: Pick<RunArchive, 'get'>, id: string): Promise<void> {
  const record = await archive.get(id)
  if (!record) throw isGone()
  if ((await runsElsewhere()).includes(id)) throw isElsewhere(record)
  if (record.checkpoint === null) throw hasNoCheckpoint(record)
}

const isGone = (): PlaygroundError => new PlaygroundError('config', 'This run is not kept here any more.', 'It may have been deleted in another tab: open the list of runs again.')
const isElsewhere = ({ name }: RunRecord): PlaygroundError => new PlaygroundError('config', `"${name}" is open in another tab.`, 'Go on there, or close that tab first.')
const hasNoCheckpoint = ({ name }: RunRecord): PlaygroundError => new PlaygroundError('config', `"${name}" has no checkpoint to go on from.`, 'Start it again from its settings.')

/**
 * @param precision keeps the base in another way than the run was trained on, to measure its adapter there
 * @param journal takes the run's lock for this tab
 * @throws PlaygroundError('config') when it is gone, has no checkpoint, or another tab has it
 */
export async function readKeptRun(archive: RunArchive, journal: Pick<RunJournal, 'reserve'>, id: string, precision?: Precision): Promise<KeptRun> {
  const record = await archive.get(id)
  if (!record) throw isGone()
  if (!(await journal.reserve(id))) throw isElsewhere(record)
  const checkpoint = await archive.checkpoint(id)
  if (!checkpoint) throw hasNoCheckpoint(record)
  const episodes: KeptEpisode[][] = []
  for await (const step of archive.episodes(id, checkpoint.step, checkpoint.step - SHOWN_STEPS + 1)) episodes.push(step)
  return {
    record,
    checkpoint,
    history: await archive.history(id, checkpoint.step),
    episodes,
    at: { sha: record.modelSha, start: (await archive.start(id)) ?? null },
    config: { ...record.config, precision: precision ?? record.config.precision },
  }
}

/**
 * Puts a checkpoint into an engine that stands at the run's step 0, whose adapter becomes the reference.
 * Throws PlaygroundError('config') when it does not fit.
 */
export async function restoreInto(engine: Pick<RunEngine, 'freezeReference' | 'importState'>, checkpoint: Checkpoint): Promise<void> {
  engine.freezeReference()
  await engine.importState(checkpoint.state)
}

/** Where a loaded run stands, between two steps. */
export async function checkpointOf({ engine, trainer }: { engine: Pick<RunEngine, 'exportState'>; trainer: Progress }): Promise<Checkpoint> {
  const { stepNumber: step, tokensSeen: num_tokens, entropyController: entropy } = trainer
  return { step, num_tokens, state: await engine.exportState(), ...(entropy && { entropy }) }
}

/** What a trainer counts and remembers beside the engine's state. */
export type Progress = Pick<GrpoTrainer, 'stepNumber' | 'tokensSeen' | 'entropyController'>

/** Puts a loaded run's engine back to a state that it had: null for that of step 0. Its reference is again what the run began with, or what its last stage made. */
export async function putBack({ engine, config, at }: { engine: RunEngine; config: RunConfig; at: KeptStart }, state: TrainerState | null): Promise<void> {
  // A stage that came after the load made another start than the engine's own.
  if (state && engine.lora && at.start) await engine.importParameters(at.start.tensors)
  else engine.resetAdapter(config.grpo.seed)
  if (!state) return
  if (engine.lora) engine.freezeReference()
  await engine.importState(state)
}

/** A step that counts as a whole or not at all: where it fails behind its first optimizer step, a loaded run's engine is put back to where the step began, which `kept` holds (null: step 0). */
export async function wholly<T>(run: Parameters<typeof putBack>[0], kept: TrainerState | null, step: () => Promise<T>): Promise<T> {
  const { engine } = run
  const { version } = engine
  try {
    return await step()
  } catch (error) {
    const isGone = error instanceof PlaygroundError && (error.kind === 'device-lost' || error.kind === 'memory')
    if (engine.version === version || isGone) throw error
    await putBack(run, kept)
    // The run has taken its reference already.
    if (!kept && engine.lora) engine.freezeReference()
    throw error
  }
}

/** What is not as it was when the run was trained, a sentence each; none when it goes on bit for bit. */
export function differences(
  { engine: before, environment, version, config: { grpo }, checkpoint }: RunRecord,
  { engine: { info: now }, environment: found }: Pick<RunSetup, 'engine' | 'environment'>,
  { step, entropy }: Pick<Checkpoint, 'step' | 'entropy'>,
): string[] {
  const name = ({ backend, threads, ortVersion }: EngineInfo): string =>
    `${backend === 'wasm' ? `WASM with ${threads} thread${threads === 1 ? '' : 's'}` : 'WebGPU'}, onnxruntime ${ortVersion}`
  const sentences: string[] = []
  const otherGpu = now.backend === 'webgpu' && before.backend === 'webgpu' && before.device !== now.device
  if (name(before) !== name(now) || otherGpu) {
    const devices = otherGpu ? ` (${before.device}, now ${now.device})` : ''
    sentences.push(`This run was trained on ${name(before)}, and goes on with ${name(now)}${devices}: from the same state, but not bit for bit.`)
  }
  if (version !== VERSION) sentences.push(`This run was trained with version ${version} of this program, and goes on with ${VERSION}: its next steps may differ.`)
  if (grpo.max_staleness > 0 && checkpoint !== null && checkpoint > 0 && checkpoint < grpo.max_steps) {
    sentences.push(`What had been sampled for step ${checkpoint + 1} ahead of its turn (max_staleness ${grpo.max_staleness}) is not kept: it is sampled anew, with the weights as they are, so the next steps differ from those of a run that was not left.`)
  }
  if (grpo.use_adaptive_entropy && step > 0 && !entropy) {
    sentences.push('How far the adaptive entropy bonus had come was not kept by the version that trained this run: it begins anew, so the next steps differ from those of a run that was not left.')
  }
  const seen = ({ tools, prompts }: Pick<RunRecord['environment'], 'prompts'> & { tools: readonly Tool[] }): string => JSON.stringify([tools, prompts])
  if (seen(environment) !== seen(found)) sentences.push(`${environment.name} has other tools or prompts than when this run was trained: its next steps are about another task.`)
  const [was, is] = [environment.dataset?.place, found.dataset?.place]
  if (was && is && was.sha !== is.sha) sentences.push(`${was.repo} was at commit ${was.sha.slice(0, 8)} when this run was trained and is at ${is.sha.slice(0, 8)} now: its next steps may have other rows.`)
  return sentences
}
