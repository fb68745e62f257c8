/** One episode's reward as a bar from zero, with the group's mean and spread across it, and its advantage. */

import { memo } from 'react'
import { useSelection, useStores } from '../../store/hooks'
import type { EpisodeView } from '../../store/view'
import { scaleColor, signMark, symmetricScale } from '../../ui/colors'
import { NONE, number, signed } from '../../ui/format'
import { S } from '../../ui/strings'
import { type Axis, rewardParts, spanOf, stackParts } from './axis'

interface RewardRowProps {
  episode: EpisodeView | null
  index: number
  /** Place in the group, from 1. */
  place: number
  axis: Axis
  /** Of the group, over its scorable episodes. */
  mean: number | null
  std: number | null
  /** End of the step's colour scale for advantages. */
  bound: number
}

export const RewardRow = memo(function RewardRow({ episode, index, place, axis, mean, std, bound }: RewardRowProps) {
  const { selection } = useStores()
  const selected = useSelection((s) => s.episode === index)
  const pointed = useSelection((s) => s.pointed === index)
  const reward = episode?.reward ?? null
  const unscorable = episode?.finished === true && reward === null
  return (
    <li
      className={`row${selected ? ' selected' : ''}${pointed ? ' pointed' : ''}`}
      data-episode={index}
      data-testid={`reward-${index}`}
      onClick={() => selection.setState({ episode: index, token: null })}
    >
      <span className="sr-only">{S.group.episode(place)}:</span>
      {unscorable ? (
        <span className="bar-track unscorable">{S.rewards.leftOut}</span>
      ) : (
        <span className="bar-track">
          <span className="zero-line" style={{ left: `${axis.at(0)}%` }} />
          {episode && reward !== null && <Bar episode={episode} reward={reward} axis={axis} />}
          {mean !== null && std !== null && std > 0 && <span className="std-band" style={spanOf(axis, mean - std, mean + std)} />}
          {mean !== null && <span className="mean-tick" style={{ left: `${axis.at(mean)}%` }} />}
        </span>
      )}
      <span className="reward-value">
        <span className="sr-only">{S.rewards.reward} </span>
        {number(reward)}
      </span>
      <Advantage value={episode?.advantage ?? null} unscorable={unscorable} bound={bound} />
    </li>
  )
}, sameRow)

/** The axis is a new object at each draw. */
function sameRow(a: RewardRowProps, b: RewardRowProps): boolean {
  const { low, high } = a.axis
  return a.episode === b.episode && a.index === b.index && a.mean === b.mean && a.std === b.std && a.bound === b.bound && low === b.axis.low && high === b.axis.high
}

/** From zero to the reward, a negative one to the left; in pieces where several turns gave some. */
function Bar({ episode, reward, axis }: { episode: EpisodeView; reward: number; axis: Axis }) {
  const parts = rewardParts(episode)
  const pieces = parts.length > 0 ? stackParts(parts) : [{ from: 0, to: reward }]
  return (
    <span className="reward-bars" title={parts.length > 0 ? S.rewards.turns(parts) : undefined}>
      {pieces.map(({ from, to }, i) => (
        <span key={i} className={to < from ? 'reward-bar loss' : 'reward-bar'} style={spanOf(axis, from, to)} />
      ))}
      {pieces.length > 1 && <span className="reward-sum" style={{ left: `${axis.at(reward)}%` }} />}
    </span>
  )
}

/** The advantage as number, sign mark and colour, with the sentence that says what it does. */
function Advantage({ value, unscorable, bound }: { value: number | null; unscorable: boolean; bound: number }) {
  if (value === null) return <span className="advantage">{NONE}</span>
  const meaning = value > 0 ? S.rewards.better : value < 0 ? S.rewards.worse : unscorable ? S.rewards.leftOut : S.rewards.equal
  const background = bound === 0 || value === 0 ? undefined : scaleColor('diverging', symmetricScale(bound).at(value))
  return (
    <span className={unscorable ? 'advantage unscorable' : 'advantage'} style={{ background }} title={`${S.rewards.advantage} ${signed(value)}: ${meaning}`}>
      <span className="sr-only">{S.rewards.advantage} </span>
      {bound > 0 && <Needle share={Math.max(-1, Math.min(1, value / bound))} />}
      <span aria-hidden="true" className="sign">
        {signMark(value)}
      </span>
      {signed(value)}
    </span>
  )
}

/** The advantage as a small bar from the middle, at the foot of its number. */
function Needle({ share }: { share: number }) {
  if (share === 0) return null
  const width = 50 * Math.abs(share)
  return <span aria-hidden="true" className={share > 0 ? 'needle above' : 'needle below'} style={{ left: `${share > 0 ? 50 : 50 - width}%`, width: `${width}%` }} />
}
