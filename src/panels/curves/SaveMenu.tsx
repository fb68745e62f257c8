/** The files that the curves are saved as: a picture, a drawing, the numbers. */

import { Menu } from '@base-ui/react/menu'
import { useEffect, useRef, useState } from 'react'
import { saveFile } from '../../ui/save-file'
import { S } from '../../ui/strings'
import { comeNear } from '../../ui/useNear'
import { curvesCsv } from './curves-csv'
import { composePicture, pictureParts } from './picture'
import { pngOf } from './picture-png'
import type { SaveCurvesProps } from './SaveCurves'

const C = S.curves.save

/** That a chart which has values is waited for, should the library of charts still come: some seconds. */
const MOST_FRAMES = 120

/** Whether some chart of the panel is not drawn yet. */
function isDrawing(trigger: Element | null): boolean {
  const plots = [...(trigger?.closest('section')?.querySelectorAll('[data-curve-figure] .plot') ?? [])]
  return plots.some((plot) => plot.querySelector('.plot-over') !== null && plot.querySelector('svg.recharts-surface') === null)
}

/** Open at once: it was fetched for that. */
export function SaveMenu({ specs, runs, present, options }: SaveCurvesProps) {
  const [problem, setProblem] = useState('')
  const trigger = useRef<HTMLButtonElement>(null)
  // Charts that nobody came near are wanted in the picture, too.
  useEffect(comeNear, [])
  const draw = async () => {
    for (let frames = 0; frames < MOST_FRAMES && isDrawing(trigger.current); frames++) await new Promise(requestAnimationFrame)
    const panel = trigger.current?.closest('section')
    const parts = panel ? pictureParts(panel, specs, runs, present, options) : []
    return parts.length === 0 ? null : composePicture(parts, { runs, options })
  }
  const save = async (as: 'png' | 'svg') => {
    setProblem('')
    try {
      const picture = await draw()
      if (picture === null) return setProblem(C.nothing)
      if (as === 'svg') saveFile(`${C.name}.svg`, new Blob([picture.svg], { type: 'image/svg+xml' }))
      else saveFile(`${C.name}.png`, await pngOf(picture))
    } catch (error) {
      setProblem(C.failed(error instanceof Error ? error.message : String(error)))
    }
  }
  return (
    <>
      <Menu.Root defaultOpen>
        <Menu.Trigger ref={trigger} className="button small" data-testid="curves-save">
          {C.open}
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="end" className="curve-menu-place">
            <Menu.Popup className="curve-menu" aria-label={C.label} data-testid="curves-save-menu">
              <Menu.Item data-testid="save-png" onClick={() => void save('png')}>
                {C.png} <span className="note">{C.pictureHint}</span>
              </Menu.Item>
              <Menu.Item data-testid="save-svg" onClick={() => void save('svg')}>
                {C.svg} <span className="note">{C.pictureHint}</span>
              </Menu.Item>
              <Menu.Item data-testid="save-csv" onClick={() => saveFile(`${C.name}.csv`, new Blob([curvesCsv(runs)], { type: 'text/csv' }))}>
                {C.csv} <span className="note">{C.csvHint}</span>
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {problem !== '' && (
        <span className="why" role="alert" data-testid="curves-save-problem">
          {problem}
        </span>
      )}
    </>
  )
}
