/** Which curves are drawn: a checkbox for each, in groups, and a field that finds one by its name. */

import { useMemo, useState } from 'react'
import { useDisplay, useStores } from '../../store/hooks'
import { CURVE_GROUPS, type CurveSpec, FIRST_CURVES, isRecorded } from '../../ui/curve-specs'
import { S } from '../../ui/strings'
import type { ChooseCurvesProps } from './ChooseCurves'

const C = S.curves

export function CurveChoice({ specs, drawn, histories }: ChooseCurvesProps) {
  const { display } = useStores()
  const chosen = useDisplay((d) => d.curves)
  const [text, setText] = useState('')
  const recorded = useMemo(() => new Set(specs.filter((spec) => isRecorded(spec, histories)).map(({ id }) => id)), [specs, histories])
  // One of the link that no run records can be taken out here, too.
  const listed = [...specs, ...drawn.filter(({ id }) => specs.every((spec) => spec.id !== id))]
  const found = listed.filter((spec) => matches(spec, text))
  const ids = drawn.map(({ id }) => id)
  const set = (id: string, on: boolean) => {
    const next = on ? [...ids, id] : ids.filter((each) => each !== id)
    // Nothing chosen is the page's own choice, so the last one stays.
    if (next.length > 0) display.setState({ curves: next.join() === FIRST_CURVES.join() ? [] : next })
  }
  return (
    <>
      <div className="curve-choice-head">
        <input type="search" aria-label={C.find} placeholder={C.find} data-testid="curves-find" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="button" className="button small" data-testid="curves-first" disabled={chosen.length === 0} onClick={() => display.setState({ curves: [] })}>
          {C.back}
        </button>
      </div>
      {found.length === 0 && <p className="note">{C.noneFound(text)}</p>}
      {CURVE_GROUPS.map((group) => {
        const members = found.filter((spec) => spec.group === group)
        if (members.length === 0) return null
        return (
          <fieldset key={group}>
            <legend>{C.groups[group]}</legend>
            {members.map((spec) => {
              const on = ids.includes(spec.id)
              return (
                <label key={spec.id} title={spec.id}>
                  <input type="checkbox" data-curve={spec.id} checked={on} disabled={on && ids.length === 1} onChange={(event) => set(spec.id, event.target.checked)} />
                  <span>{spec.label}</span>
                  {!recorded.has(spec.id) && <span className="note">{C.noValuesShort}</span>}
                </label>
              )
            })}
          </fieldset>
        )
      })}
    </>
  )
}

/** By name or label, every word of the text in one of them. */
export function matches(spec: CurveSpec, text: string): boolean {
  const name = `${spec.label} ${spec.id} ${spec.lines.map(({ metric }) => metric).join(' ')}`.toLowerCase()
  return text.toLowerCase().split(/\s+/).every((word) => name.includes(word))
}
