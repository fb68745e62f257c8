/** From what a config says to an environment: those of the page, servers, classes written in the page, prompts, and several at once. */

import type { Environment } from '../core/environment'
import type { EnvironmentSpec } from '../core/environment-spec'
import { PlaygroundError } from '../core/errors'
import { builtinEnvironment } from '../env/builtin/index'
import { OpenEnvEnvironment, type OpenEnvOptions } from '../env/openenv/client'

/** Not connected yet. Throws PlaygroundError('config') for a bad address. */
export function makeEnvironment(spec: EnvironmentSpec, options: OpenEnvOptions): Environment {
  switch (spec.kind) {
    case 'builtin':
      return builtinEnvironment(spec.name)
    case 'openenv':
      return new OpenEnvEnvironment(spec.url, { pageProtocol: self.location.protocol, ...options })
    case 'custom':
    case 'prompts':
    case 'mix':
      throw new PlaygroundError('config', `This page cannot make an environment of the kind ${spec.kind}.`)
  }
}
