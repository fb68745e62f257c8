/** The engine's side of the sandbox: the port that the page handed over, through which functions of the person's own are called. */

import { sandboxClient, type SandboxClient } from '../env/custom/sandbox-client'
import { PlaygroundError } from '../core/errors'
import type { CallCustom } from '../train/scoring'

let client: SandboxClient | null = null

/** Takes the page's port; the one before it is closed. */
export function adoptSandbox(port: MessagePort): void {
  client?.close()
  client = sandboxClient(port)
}

/** The sandbox, for environments and rollout functions written in the page. Throws PlaygroundError('config') while nobody has allowed any code. */
export function requireSandbox(): SandboxClient {
  if (!client) throw new PlaygroundError('config', 'The code of this run was not allowed to run.', 'Read it under Environment and allow it.')
  return client
}

/** Calls a function of the person's own; without a port nobody has allowed any. */
export const callInSandbox: CallCustom = async (func, args) => {
  if (!client) throw new PlaygroundError('config', `The reward function ${func.called} was not allowed to run.`, 'Read its code under Reward functions and allow it.')
  return client.call(func, args)
}
