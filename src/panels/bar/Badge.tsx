/** What runs: environment, model, backend and adapter, seed. */

import { useRun, useSetup } from '../../store/hooks'
import { writeEnvironment } from '../../store/link'
import { shortName } from '../../store/model-settings'
import { describeEngine } from '../../ui/sentence'
import { S } from '../../ui/strings'

export function Badge() {
  const config = useSetup((s) => s.applied ?? s.config)
  const engine = useRun(describeEngine)
  return (
    <ul className="badge" data-testid="badge">
      <li className="badge-environment">{writeEnvironment(config.environment)}</li>
      <li>{shortName(config.model)}</li>
      <li>{engine ?? S.bar.noEngine}</li>
      <li>
        {S.bar.seed} {config.grpo.seed}
      </li>
    </ul>
  )
}
