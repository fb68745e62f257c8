/** Chooses what colours the tokens, and shows what the colours mean, always in view. */

import type { Author } from '../../core/episode'
import { HEATS } from '../../store/display'
import { useDisplay, useStores } from '../../store/hooks'
import { type Scale, scaleColor } from '../../ui/colors'
import { number, signed } from '../../ui/format'
import { Segmented } from '../../ui/Segmented'
import { HEAT_NAMES, S } from '../../ui/strings'
import { Switch } from '../../ui/Switch'
import { useNarrow } from '../../ui/useNarrow'
import type { HeatView } from './useHeat'

export function BlanksSwitch() {
  const { display } = useStores()
  const blanks = useDisplay((d) => d.blanks)
  return <Switch id="blanks" label={S.trajectory.blanks} title={S.trajectory.blanksHint} on={blanks} onChange={(on) => display.setState({ blanks: on })} />
}

/** On a phone the names would take four lines. */
export function ColourBy() {
  const { display } = useStores()
  const heat = useDisplay((d) => d.heat)
  const narrow = useNarrow()
  const choose = (option: string) => {
    const found = HEATS.find((one) => one === option)
    if (found) display.setState({ heat: found })
  }
  if (!narrow) return <Segmented id="heat" label={S.trajectory.colour} options={HEATS} names={HEAT_NAMES} value={heat} onChange={choose} />
  return (
    <label className="look-select">
      {S.trajectory.colour}{' '}
      <select data-testid="heat" value={heat} onChange={(e) => choose(e.target.value)}>
        {HEATS.map((option) => (
          <option key={option} value={option}>
            {HEAT_NAMES[option]}
          </option>
        ))}
      </select>
    </label>
  )
}

const STOPS = 9

interface HeatLegendProps {
  scale: Scale | null
  authors?: readonly Author[]
  /** Who wrote in the model's place, if not the model. */
  writer?: string | undefined
}

export function HeatLegend({ scale, authors = ['model', 'environment', 'template'], writer }: HeatLegendProps) {
  return (
    <p className="heat-legend">
      <Authors authors={authors} writer={writer} />
      {scale && <ScaleBar scale={scale} />}
    </p>
  )
}

function Authors({ authors, writer }: { authors: readonly Author[]; writer: string | undefined }) {
  return authors.map((author) => (
    <span key={author}>
      <span className={`swatch run-${author}`} /> {author === 'model' && writer ? writer : S.authors[author]}
    </span>
  ))
}

/** Of the trajectory (`unplayed`: no environment answers in it): authors, or the scale with what it says, or why there is none; in the same room whatever it is. */
export function TrajectoryLegend({ view: { heat, scale, why, asOf, pauseHelps }, writer, unplayed }: { view: HeatView; writer: string | undefined; unplayed: boolean }) {
  const { controller } = useStores()
  const others: readonly Author[] = unplayed ? ['template'] : ['environment', 'template']
  return (
    <div className="heat-legend trajectory-legend" data-testid="trajectory-legend">
      {scale && <ScaleBar scale={scale} />}
      <span className={why === null ? 'note' : 'legend-why'} role={why === null ? undefined : 'status'}>
        {why ?? S.trajectory.meaning[heat]}
        {asOf && ` (${asOf})`}
      </span>
      {pauseHelps && (
        <button type="button" className="button small" data-testid="legend-pause" onClick={controller.pause}>
          {S.controls.pause}
        </button>
      )}
      <span className="legend-authors">
        <Authors authors={heat === 'author' ? ['model', ...others] : others} writer={writer} />
      </span>
    </div>
  )
}

/** The colours of a scale between its two ends; `values`: what stands at these. */
export function ScaleBar({ scale, values = true }: { scale: Scale; values?: boolean }) {
  const { kind, low, high } = scale
  const center = kind === 'diverging' ? low + (high - low) / 2 : low
  // Without two ends the colours still say which way is which.
  const positionAt = (share: number) => (low < high ? scale.at(low + (high - low) * share) : kind === 'diverging' ? 2 * share - 1 : share)
  const stops = Array.from({ length: STOPS }, (_, i) => scaleColor(kind, positionAt(i / (STOPS - 1))))
  const write = kind === 'diverging' && center === 0 ? signed : number
  return (
    <span className="scale-legend" data-testid="scale-legend">
      {kind === 'diverging' && positionAt(0) < 0 && '▼ '}
      {values && write(low)}
      <span className="scale-bar" style={{ background: `linear-gradient(to right, ${stops.join(', ')})` }} />
      {values && write(high)}
      {kind === 'diverging' && positionAt(1) > 0 && ' ▲'}
    </span>
  )
}
