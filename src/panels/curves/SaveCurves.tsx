/** The button that opens the menu of files; the menu is fetched when it is first wanted. */

import { useState } from 'react'
import type { CurveSpec } from '../../ui/curve-specs'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import type { DrawnRun, ViewOptions } from './series'

const SaveMenu = later(async () => (await import('./SaveMenu')).SaveMenu)

export interface SaveCurvesProps {
  specs: readonly CurveSpec[]
  runs: readonly DrawnRun[]
  present: number
  options: ViewOptions
}

export function SaveCurves(props: SaveCurvesProps) {
  const [wanted, setWanted] = useState(false)
  return (
    <span className="curve-save">
      {wanted ? (
        <SaveMenu {...props} />
      ) : (
        <button type="button" className="button small" aria-haspopup="menu" data-testid="curves-save" onClick={() => setWanted(true)}>
          {S.curves.save.open}
        </button>
      )}
    </span>
  )
}
