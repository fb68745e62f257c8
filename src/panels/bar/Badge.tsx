/** What runs, or that a recording is shown: environment, model, backend and adapter, seed; two lines where the bar has room for them. */

import type { ReactNode } from 'react'
import { useReplay, useRun, useSetup } from '../../store/hooks'
import { specName } from '../../core/environment-spec'
import { shortName } from '../../store/model-settings'
import { describeEngine } from '../../ui/sentence'
import { S } from '../../ui/strings'

export function Badge() {
  const present = useSetup((s) => s.applied ?? s.config)
  // A recording stands for its own settings, as far as its file tells them.
  const recorded = useRun((view) => view.recorded)
  const { environment, model, grpo } = recorded ?? present
  const known = recorded === null || recorded.model !== ''
  const engine = useRun(describeEngine)
  const replay = useReplay(({ state }) => state === 'on')
  const recording = replay || recorded !== null
  const environmentPart = (
    <li className={environment.kind === 'openenv' ? 'badge-environment badge-own' : 'badge-environment'} title={specName(environment)}>
      {specName(environment)}
    </li>
  )
  const modelPart = (
    <li className="badge-model" title={shortName(model)}>
      {shortName(model)}
    </li>
  )
  const seedPart = (
    <li>
      {S.bar.seed} {grpo.seed}
    </li>
  )
  return (
    <div className="badge" data-testid="badge">
      <Line>
        {replay && (
          <li className="badge-replay" title={S.replay.hint}>
            {S.replay.badge}
          </li>
        )}
        {recorded !== null && <li className="badge-replay">{S.runs.recording.badge}</li>}
        {known && environmentPart}
        {known && !recording && modelPart}
      </Line>
      {known && (
        <Line>
          {/* A recording has no engine. */}
          {recording ? modelPart : <li className="badge-engine" title={engine ?? undefined}>{engine ?? S.bar.noEngine}</li>}
          {seedPart}
        </Line>
      )}
    </div>
  )
}

function Line({ children }: { children: ReactNode }) {
  return <ul className="badge-line">{children}</ul>
}
