/** What runs: environment, model, backend and adapter, seed. */

import { useRun, useSetup } from '../../store/hooks'
import { writeEnvironment } from '../../store/link'
import { describeEngine } from '../../ui/sentence'
import { S } from '../../ui/strings'

export function Badge() {
  const config = useSetup((s) => s.applied ?? s.config)
  const engine = useRun(describeEngine)
  const model = config.model.split('/').at(-1) ?? config.model
  return (
    <ul className="badge" data-testid="badge">
      <li className="badge-environment">{writeEnvironment(config.environment)}</li>
      <li>{model}</li>
      <li>{engine ?? S.bar.noEngine}</li>
      <li>
        {S.bar.seed} {config.grpo.seed}
      </li>
    </ul>
  )
}
