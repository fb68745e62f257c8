/** How the frozen base weights are kept. */

import { useId } from 'react'
import type { Precision } from '../../core/config'
import { useSetup, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'

const PRECISIONS: readonly Precision[] = ['int4', 'int8', 'float32']

export function PrecisionField() {
  const id = useId()
  const { controller } = useStores()
  const precision = useSetup((s) => s.config.precision)
  const change = (text: string) => {
    const chosen = PRECISIONS.find((p) => p === text)
    if (chosen) controller.model.setPrecision(chosen)
  }
  return (
    <div className="field">
      <label htmlFor={id}>{S.model.precision}</label>
      <Help of="model:precision" name={S.model.precision} />
      <select id={id} data-testid="precision" value={precision} onChange={(e) => change(e.target.value)}>
        {PRECISIONS.map((p) => (
          <option key={p}>{p}</option>
        ))}
      </select>
    </div>
  )
}
