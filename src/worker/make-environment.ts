/** From what a config says to an environment: those of the page, servers, classes written in the page, prompts, and several at once. */

import type { Environment } from '../core/environment'
import { datasetName, type EnvironmentSpec } from '../core/environment-spec'
import { PlaygroundError } from '../core/errors'
import { builtinEnvironment } from '../env/builtin/index'
import { customEnvironment } from '../env/custom/environment'
import { OpenEnvEnvironment, type OpenEnvOptions } from '../env/openenv/client'
import { promptsEnvironment } from '../env/prompts/environment'
import type { HubClient } from '../hub/client'
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
}

/** Not connected yet. Throws PlaygroundError('config') for a bad address. */
export function makeEnvironment(spec: EnvironmentSpec, { seed = 0, system_prompt = '', datasets, ...options }: MakeOptions): Environment {
  switch (spec.kind) {
    case 'builtin':
      return builtinEnvironment(spec.name)
    case 'openenv':
      return new OpenEnvEnvironment(spec.url, { pageProtocol: self.location.protocol, ...options })
    case 'prompts':
      return promptsEnvironment({ name: datasetName(spec.dataset), seed, system_prompt, read: (signal) => readPromptRows(spec.dataset, datasets ?? null, signal) })
    case 'custom':
      return customEnvironment(spec, requireSandbox)
    case 'mix':
      throw new PlaygroundError('config', `This page cannot make an environment of the kind ${spec.kind}.`)
  }
}
