/** Reads a kept run back, to go on with it: what to load, what to put into the engine, what to tell the page. */

import type { Precision, RunConfig } from '../core/config'
import type { EngineInfo } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { KeptEpisode, RunRecord, StepSummary } from '../core/run-record'
import type { PeftAdapter } from '../hub/peft-adapter'
import type { Checkpoint, RunArchive } from './archive'
import { isRunHeld } from './run-lock'
import type { RunEngine } from './setup'

/** Steps whose episodes the page gets back: as many as it keeps of a run that it saw. */
const SHOWN_STEPS = 3

export interface KeptRun {
  record: RunRecord
  checkpoint: Checkpoint
  history: StepSummary[]
  episodes: KeptEpisode[][]
  /** The adapter that step 0 had; null for a fresh one. */
  start: PeftAdapter | null
  /** Its settings, as they were or on another base. */
  config: RunConfig
}

/**
 * @param precision keeps the base in another way than the run was trained on, to measure its adapter there
 * @param current the run that this tab has loaded already
 * @throws PlaygroundError('config') when it is gone, has no checkpoint, or another tab has it
 */
export async function readKeptRun(archive: RunArchive, id: string, precision: Precision | undefined, current: string | null): Promise<KeptRun> {
  const record = await archive.get(id)
  if (!record) throw new PlaygroundError('config', 'This run is not kept here any more.', 'It may have been deleted in another tab: open the list of runs again.')
  if (id !== current && (await isRunHeld(id))) {
    throw new PlaygroundError('config', `"${record.name}" is open in another tab.`, 'Go on there, or close that tab first.')
  }
  const checkpoint = await archive.checkpoint(id)
  if (!checkpoint) throw new PlaygroundError('config', `"${record.name}" has no checkpoint to go on from.`, 'Start it again from its settings.')
  const episodes: KeptEpisode[][] = []
  for await (const step of archive.episodes(id, checkpoint.step, checkpoint.step - SHOWN_STEPS + 1)) episodes.push(step)
  return {
    record,
    checkpoint,
    history: await archive.history(id, checkpoint.step),
    episodes,
    start: (await archive.start(id)) ?? null,
    config: { ...record.config, precision: precision ?? record.config.precision },
  }
}

/**
 * Puts a kept run into an engine that stands at its step 0, whose adapter becomes the reference. Returns what the person should know, or ''.
 * Throws PlaygroundError('config') when the checkpoint does not fit.
 */
export async function restoreInto(engine: Pick<RunEngine, 'freezeReference' | 'importState' | 'info'>, { record, checkpoint }: KeptRun): Promise<string> {
  engine.freezeReference()
  await engine.importState(checkpoint.state)
  return differences(record.engine, engine.info)
}

/** What differs between the engine that a run was trained with and this one, as a sentence; '' when it goes on bit for bit. */
export function differences(before: EngineInfo, now: EngineInfo): string {
  const name = ({ backend, threads, ortVersion }: EngineInfo): string =>
    `${backend === 'wasm' ? `WASM with ${threads} thread${threads === 1 ? '' : 's'}` : 'WebGPU'}, onnxruntime ${ortVersion}`
  if (now.backend === 'webgpu' && before.backend === 'webgpu' && now.ortVersion === before.ortVersion && now.device === before.device) return ''
  if (name(before) === name(now) && now.backend === 'wasm') return ''
  const devices = now.backend === 'webgpu' && before.backend === 'webgpu' ? ` (${before.device}, now ${now.device})` : ''
  return `This run was trained on ${name(before)}, and goes on with ${name(now)}${devices}: from the same state, but not bit for bit.`
}
