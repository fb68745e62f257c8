/** The button that opens the choice of curves; the choice itself is fetched when it is first opened. */

import { useId, useState } from 'react'
import type { StepSummary } from '../../core/run-record'
import type { CurveSpec } from '../../ui/curve-specs'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'

const CurveChoice = later(async () => (await import('./CurveChoice')).CurveChoice)

export interface ChooseCurvesProps {
  specs: readonly CurveSpec[]
  drawn: readonly CurveSpec[]
  histories: readonly (readonly StepSummary[])[]
}

/** The browser's popover: it closes on Escape and on a click elsewhere, and gives the focus back. */
export function ChooseCurves(props: ChooseCurvesProps) {
  const id = useId()
  const anchor = `--choose${id.replace(/\W/g, '')}`
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button small" data-testid="curves-choose" popoverTarget={id} style={{ anchorName: anchor }}>
        {S.curves.choose}
      </button>
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label={S.curves.choose}
        className="curve-choice"
        data-testid="curve-choice"
        style={{ positionAnchor: anchor }}
        onToggle={(event) => setOpen(event.newState === 'open')}
      >
        {open && <CurveChoice {...props} />}
      </div>
    </>
  )
}
