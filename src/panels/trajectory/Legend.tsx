/** Chooses what colours the tokens, and shows what the colours mean, always in view. */

import type { Author } from '../../core/episode'
import { HEATS } from '../../store/display'
import { useDisplay, useStores } from '../../store/hooks'
import { type Scale, scaleColor } from '../../ui/colors'
import { number, signed } from '../../ui/format'
import { Segmented } from '../../ui/Segmented'
import { HEAT_NAMES, S } from '../../ui/strings'

/** Those that have values here. */
const SHOWN = HEATS.filter((heat) => heat !== 'ratio' && heat !== 'kl' && heat !== 'change')

export function ColourBy() {
  const { display } = useStores()
  const heat = useDisplay((d) => d.heat)
  return <Segmented id="heat" label={S.trajectory.colour} options={SHOWN} names={HEAT_NAMES} value={heat} onChange={(option) => display.setState({ heat: option })} />
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
      {authors.map((author) => (
        <span key={author}>
          <span className={`swatch run-${author}`} /> {author === 'model' && writer ? writer : S.authors[author]}
        </span>
      ))}
      {scale && <ScaleBar scale={scale} />}
    </p>
  )
}

/** The colours of a scale between its two ends; `values`: what stands at these. */
export function ScaleBar({ scale, values = true }: { scale: Scale; values?: boolean }) {
  const low = scale.kind === 'diverging' ? -1 : 0
  const stops = Array.from({ length: STOPS }, (_, i) => scaleColor(scale.kind, low + ((1 - low) * i) / (STOPS - 1)))
  const write = scale.kind === 'diverging' ? signed : number
  return (
    <span className="scale-legend" data-testid="scale-legend">
      {scale.kind === 'diverging' && '▼ '}
      {values && write(scale.low)}
      <span className="scale-bar" style={{ background: `linear-gradient(to right, ${stops.join(', ')})` }} />
      {values && write(scale.high)}
      {scale.kind === 'diverging' && ' ▲'}
    </span>
  )
}
