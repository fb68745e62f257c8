/** What the page is told about a run once it is loaded: its engine and its environment, as plain data. */

import type { RunConfig } from '../core/config'
import type { Environment } from '../core/environment'
import type { Message } from './protocol'
import type { RunSetup } from './setup'

/** The engine with its self-test and LoRA. */
export function engineMessage({ engine, selfTest }: Pick<RunSetup, 'engine' | 'selfTest'>, loadSeconds: number): Message {
  return { type: 'engine', report: { info: engine.info, selfTest, lora: engine.lora, loadSeconds } }
}

/** The environment as the model meets it, and what discovery found. */
export function environmentMessage(spec: RunConfig['environment'], environment: Environment): Message {
  const { tools, ownTools, discovered, prompts, maxSessions } = environment
  return {
    type: 'environment',
    spec,
    tools: [...tools],
    ...(ownTools ? { ownTools: [...ownTools] } : {}),
    prompts,
    maxSessions: Number.isFinite(maxSessions) ? maxSessions : null,
    ...(discovered ? { discovered } : {}),
  }
}
