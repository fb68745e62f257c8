/** What the page is told about a run once it is loaded: its engine and its environment, as plain data. */

import type { RunConfig } from '../core/config'
import type { Environment, MemberFacts } from '../core/environment'
import { describeError, PlaygroundError } from '../core/errors'
import type { LoadProgress, RunState } from '../core/events'
import type { Message } from './protocol'
import type { RunSetup } from './setup'

/** The engine with its self-test and LoRA. */
export function engineMessage({ engine, selfTest }: Pick<RunSetup, 'engine' | 'selfTest'>, loadSeconds: number): Message {
  return { type: 'engine', report: { info: engine.info, selfTest, lora: engine.lora, loadSeconds } }
}

/** The environment as the model meets it, and what discovery found. */
export function environmentMessage(spec: RunConfig['environment'], environment: Environment): Message {
  const { tools, ownTools, discovered, dataset, prompts, maxSessions, members } = environment
  return {
    type: 'environment',
    spec,
    tools: [...tools],
    ...(ownTools ? { ownTools: [...ownTools] } : {}),
    prompts,
    maxSessions: Number.isFinite(maxSessions) ? maxSessions : null,
    heldOut: environment.heldOut ?? false,
    ...(discovered ? { discovered } : {}),
    ...(dataset ? { dataset } : {}),
    ...(members ? { members: members.map(memberFacts) } : {}),
  }
}

/** One of several environments as plain data. */
export function memberFacts({ name, tools, ownTools, prompts, maxSessions, discovered }: Environment): MemberFacts {
  return {
    name,
    tools: [...tools],
    ...(ownTools ? { ownTools: [...ownTools] } : {}),
    prompts,
    maxSessions: Number.isFinite(maxSessions) ? maxSessions : null,
    ...(discovered ? { discovered } : {}),
  }
}

/** A load that a person paused: how much has come, or that an environment was waited for. */
export function pausedLoad({ what, done, total, overall }: LoadProgress): Extract<RunState, { state: 'load-paused' }> {
  if (what === 'environment') return { state: 'load-paused', done: 0, total: null, what }
  return { state: 'load-paused', done: overall?.done ?? done, total: overall?.total ?? total }
}

/** After a pause while an environment was waited for, where there is a run before it. */
export const WAIT_STOPPED = 'The waiting for the environment was stopped; the run before it stands where it stood. Reset connects again.'

/** A failure as the page shows it; recoverable while there is a run to go on with. */
export function failedState(error: unknown, recoverable: boolean): RunState {
  const known = error instanceof PlaygroundError
  const advice = known ? error.advice : 'Press Reset; if it happens again, reload the page.'
  return { state: 'failed', error: known ? error.message : describeError(error), advice, recoverable, ...(known && { kind: error.kind }) }
}

/** After a failure in the loop the run stands as it was after `step`, in an engine that was made again. */
export function recoveredState(error: PlaygroundError, step: number, backend: RunConfig['backend']): RunState {
  const where = backend === 'wasm' ? ' on WASM' : ''
  const advice = `The run is kept as it was after step ${step}: press Train to go on from it${where}, or lower num_generations or max_completion_length and press Reset.`
  return { state: 'failed', error: error.message, advice, recoverable: true, kind: error.kind }
}

/** Why the model cannot talk now: none is loaded, or a step holds the slots. */
export function chatRefused(requestId: number, loaded: boolean, paused: boolean): Message {
  const error = !loaded
    ? 'There is no model to talk to yet. Wait until it is loaded.'
    : paused
      ? 'The run is paused in the middle of a step. Choose GRPO step beside Step and press it, to finish the step first.'
      : 'The model is being trained. Press Pause first, and finish the step with Step if the pause is in its middle.'
  return { type: 'chat-ended', requestId, reason: 'failed', error }
}

/** Throws PlaygroundError where a loaded run must not be trained. `trusted`: the engine whose failed self-test a person overruled. */
export function assertTrainable(run: Pick<RunSetup, 'engine' | 'selfTest'> | null, trusted: object | null, measured: boolean): void {
  if (run?.selfTest?.ok === false && trusted !== run.engine) throw new PlaygroundError('engine', run.selfTest.problem, 'Choose WASM, or press Train anyway.')
  if (measured) throw new PlaygroundError('config', 'This run stands on another base than it was trained on, to be measured.', 'Resume it to train on.')
}
