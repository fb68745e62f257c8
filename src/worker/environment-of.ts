/** The environment of a spec for the worker: games of the page at once, the programs of all others when one is first asked for. */

import type { Environment } from '../core/environment'
import type { EnvironmentSpec } from '../core/environment-spec'
import { latePart } from '../core/late-part'
import { builtinEnvironment } from '../env/builtin/index'
import type { MakeOptions } from './make-environment'

/** Room for the reset observation, which the prompt does not hold yet, in tokens; of servers it is not known. */
export const OBSERVATION_ROOM: Record<EnvironmentSpec['kind'], number> = { builtin: 64, openenv: 512, custom: 256, prompts: 256, mix: 512 }

/** Not connected yet. Throws PlaygroundError('config') for a bad address, 'engine' where its program cannot be fetched. */
export async function environmentOf(spec: EnvironmentSpec, given: MakeOptions): Promise<Environment> {
  if (spec.kind === 'builtin') return builtinEnvironment(spec.name)
  const { makeEnvironment } = await latePart(() => import('./make-environment'))
  return makeEnvironment(spec, given)
}
