/** Chooses which of the step's groups is in view: every choice shows its group's rewards as small bars, and whether they differ. */

import { memo, useId } from 'react'
import { useStores } from '../../store/hooks'
import type { EpisodeView, StepView } from '../../store/view'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import { type Axis, axisOf } from '../rewards/axis'
import { groupOf, type GroupView, meanReward } from './group-view'

/** From so many groups on the choices are smaller. */
const MANY = 9

/** Radio buttons: the arrow keys move between them. */
export function GroupPicker({ step, group, size }: { step: StepView; group: number; size: number }) {
  const { selection } = useStores()
  const name = useId()
  if (step.groupCount < 2) return null
  const axis = axisOf(step)
  return (
    <fieldset className={step.groupCount < MANY ? 'group-picker' : 'group-picker many'} data-testid="group-picker">
      <legend className="sr-only">{S.group.picker}</legend>
      {Array.from({ length: step.groupCount }, (_, i) => {
        const view = groupOf(step, i * size)
        const silent = view.stats !== null && !view.stats.signal
        const label = labelOf(i, view, silent)
        const kind = `${i === group ? ' chosen' : ''}${silent ? ' silent' : ''}${view.discarded ? ' discarded' : ''}`
        return (
          <label key={i} className={`group-choice${kind}`} title={label}>
            <input
              type="radio"
              name={name}
              className="sr-only"
              checked={i === group}
              aria-label={label}
              onChange={() => selection.setState({ episode: i * size, token: null })}
            />
            <span aria-hidden="true" className="group-number">
              {i + 1}
            </span>
            <MiniBars episodes={view.episodes} axis={axis} />
          </label>
        )
      })}
    </fieldset>
  )
}

function labelOf(i: number, view: GroupView, silent: boolean): string {
  const mean = meanReward(view.episodes)
  const unscorable = view.stats?.unscorable ?? 0
  const parts = [
    `${S.group.picker} ${i + 1}`,
    mean === null ? null : `${S.rewards.mean} ${number(mean)}`,
    view.discarded ? S.group.discarded : silent ? S.rewards.noSignal : null,
    unscorable > 0 ? `${unscorable} ${S.group.unscorable}` : null,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

/** Height of the bar of a reward at the low end: it is there all the same. */
const LEAST = 0.07

/** From zero upwards, a loss downwards; tinted once there are advantages. Unscorable episodes leave a gap. */
const MiniBars = memo(function MiniBars({ episodes, axis }: { episodes: readonly (EpisodeView | null)[]; axis: Axis }) {
  const place = (reward: number) => 1 - axis.at(reward) / 100
  return (
    <svg className="mini-bars" viewBox={`0 0 ${episodes.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {episodes.map((episode, i) => {
        if (episode === null || episode.reward === null) return null
        const [zero, end] = [place(0), place(episode.reward)]
        const height = Math.max(LEAST, Math.abs(zero - end))
        const sign = episode.advantage === null || episode.advantage === 0 ? '' : episode.advantage > 0 ? 'above' : 'below'
        return <rect key={i} className={sign} x={i + 0.12} width={0.76} y={episode.reward < 0 ? zero : Math.min(zero, 1) - height} height={height} />
      })}
    </svg>
  )
}, sameBars)

interface BarsProps {
  episodes: readonly (EpisodeView | null)[]
  axis: Axis
}

/** The episodes are a new list at each draw; the bars change with their rewards alone. */
function sameBars(a: BarsProps, b: BarsProps): boolean {
  if (a.axis.low !== b.axis.low || a.axis.high !== b.axis.high || a.episodes.length !== b.episodes.length) return false
  return a.episodes.every((e, i) => e?.reward === b.episodes[i]?.reward && e?.advantage === b.episodes[i]?.advantage)
}
