/** The environments that live in the page, by name. */

import type { BuiltinName } from '../../core/environment-spec'
import type { Environment } from '../../core/environment'
import { catchEnvironment } from './catch'
import { echoEnvironment } from './echo'
import { guessEnvironment } from './guess'
import { laneEnvironment } from './lane'

export type { BuiltinName }

const MAKERS: Record<BuiltinName, () => Environment> = {
  lane: laneEnvironment,
  catch: catchEnvironment,
  echo: echoEnvironment,
  guess: guessEnvironment,
}

export const BUILTIN_NAMES = Object.keys(MAKERS) as readonly BuiltinName[]

/** A new instance of a built-in environment; it is connected at once. */
export function builtinEnvironment(name: BuiltinName): Environment {
  return MAKERS[name]()
}
