/** From what a config says to an environment: those of the page, servers, classes written in the page, prompts, and several at once. */

import type { Environment } from '../core/environment'
import { datasetName, type EnvironmentSpec, type PromptSource, specName } from '../core/environment-spec'
import type { ToolEdit } from '../core/tool-edits'
import { builtinEnvironment } from '../env/builtin/index'
import { customEnvironment } from '../env/custom/environment'
import { mixEnvironment } from '../env/mix'
import { OpenEnvEnvironment, type OpenEnvOptions } from '../env/openenv/client'
import { promptsEnvironment, type PromptsOptions } from '../env/prompts/environment'
import type { HubClient } from '../hub/client'
import { OBSERVATION_ROOM } from './environment-of'
import { readPromptRows } from './prompt-rows'
import { requireSandbox } from './reward-sandbox'

/** What an environment may need of the run and the page beside its spec. */
export interface MakeOptions extends OpenEnvOptions {
  /** Of the run, for the order of a dataset's rows; 0. */
  seed?: number
  /** Of the run: put before a dataset's prompts that have none. */
  system_prompt?: string
  /** The way to datasets on the Hub. */
  datasets?: HubClient
  /** What was changed about the tools; read by several environments alone, which share it among them. */
  tool_edits?: readonly ToolEdit[]
  /** Of the run: what its classes may reach. */
  network_hosts?: readonly string[]
}

/** Not connected yet. Throws PlaygroundError('config') for a bad address. */
export function makeEnvironment(spec: EnvironmentSpec, given: MakeOptions): Environment {
  const { seed = 0, system_prompt = '', datasets, tool_edits = [], network_hosts = [], ...options } = given
  const rowsOf = (dataset: PromptSource): Omit<PromptsOptions, 'system_prompt'> => ({ name: datasetName(dataset), seed, read: (signal) => readPromptRows(dataset, datasets ?? null, signal) })
  switch (spec.kind) {
    case 'builtin':
      return builtinEnvironment(spec.name)
    case 'openenv':
      return new OpenEnvEnvironment(spec.url, { pageProtocol: self.location.protocol, ...options })
    case 'prompts':
      return promptsEnvironment({ ...rowsOf(spec.dataset), system_prompt })
    case 'custom':
      return customEnvironment(spec, () => requireSandbox(network_hosts))
    case 'mix': {
      const onAway = options.onAway && together(options.onAway)
      const parts = spec.members.map(({ environment, ...member }) => {
        const own = { ...given, system_prompt: member.system_prompt, ...(onAway && { onAway: onAway() }) }
        return { ...member, name: specName(environment), environment: makeEnvironment(environment, own), room: OBSERVATION_ROOM[environment.kind] }
      })
      return mixEnvironment({ parts, edits: tool_edits, dataset: spec.dataset && rowsOf(spec.dataset) })
    }
  }
}

/** One listener for several servers: it is told what the first of those that are waited for says, and null when none is. */
function together(listener: (text: string | null) => void): () => (text: string | null) => void {
  const waits: (string | null)[] = []
  return () => {
    const at = waits.push(null) - 1
    return (text) => {
      waits[at] = text
      listener(waits.find((wait) => wait !== null) ?? null)
    }
  }
}
