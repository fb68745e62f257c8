/** What the environment of the settings is called at the bench. */

import { useSetup } from '../../store/hooks'

/** A server is called by its own name in metrics, which only the engine knows. */
export function useEnvironmentName(): string {
  const spec = useSetup((s) => s.config.environment)
  return spec.kind === 'builtin' ? spec.name : 'environment'
}
