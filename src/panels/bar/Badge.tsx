/** What runs, or that a recording is shown: environment, model, backend and adapter, seed. */

import { useReplay, useRun, useSetup } from '../../store/hooks'
import { writeEnvironment } from '../../store/link'
import { shortName } from '../../store/model-settings'
import { describeEngine } from '../../ui/sentence'
import { S } from '../../ui/strings'

export function Badge() {
  const config = useSetup((s) => s.applied ?? s.config)
  const engine = useRun(describeEngine)
  const replay = useReplay(({ state }) => state === 'on')
  return (
    <ul className="badge" data-testid="badge">
      {replay && (
        <li className="badge-replay" title={S.replay.hint}>
          {S.replay.badge}
        </li>
      )}
      <li className="badge-environment">{writeEnvironment(config.environment)}</li>
      <li>{shortName(config.model)}</li>
      <li>{engine ?? S.bar.noEngine}</li>
      <li>
        {S.bar.seed} {config.grpo.seed}
      </li>
    </ul>
  )
}
