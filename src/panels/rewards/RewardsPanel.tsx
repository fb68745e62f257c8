/** Column 3: each episode's reward as a bar, the group's mean and spread, and the advantage that follows. */

import { usePlannedStep, useReplay, useSelectedStep, useSelection, useSetup, useShown, useStores } from '../../store/hooks'
import type { EpisodeView, StepView } from '../../store/view'
import { scaleColor, signMark, symmetricScale } from '../../ui/colors'
import { NONE, number, signed } from '../../ui/format'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { advantageBound } from './advantage-scale'
import { type GroupView, groupOf, meanReward } from '../group/group-view'

export function RewardsPanel() {
  const step = useSelectedStep()
  const index = useSelection((s) => s.episode)
  const selected = useSelection((s) => s.step)
  const planned = usePlannedStep()
  const shown = step ?? (selected === null ? planned : null)
  const coming = useReplay(({ state }) => state === 'coming')
  const scale = useSetup((s) => s.config.grpo.scale_rewards)
  return (
    <Panel id="rewards" number={3} title={S.rewards.title} lead={S.rewards.lead[scale]}>
      {shown && <Rewards step={shown} group={groupOf(shown, index)} />}
      {!step && !coming && (selected === null ? <p className="note">{S.rewards.empty}</p> : <OldGroups step={selected} />)}
    </Panel>
  )
}

/** Of a step whose episodes are no longer kept: what is left of its groups. */
function OldGroups({ step }: { step: number }) {
  const groups = useShown((view) => view.history.find((s) => s.step === step)?.groups)
  return (
    <ol className="old-groups">
      {groups?.map((group) => (
        <li key={group.group}>
          {S.group.picker} {group.group + 1}: {S.rewards.mean} {number(group.mean)}, {S.rewards.std} {number(group.std)}
          {!group.signal && `, ${S.rewards.noSignal}`}
        </li>
      ))}
    </ol>
  )
}

interface Axis {
  /** Place of a reward on the axis, 0…100 %. */
  at(reward: number): number
}

/** One axis for all groups of the step, zero always on it. */
function axisOf(step: StepView): Axis {
  const rewards = step.episodes.flatMap((e) => (e.reward === null ? [] : [e.reward]))
  const low = Math.min(0, ...rewards)
  const high = Math.max(0, ...rewards)
  const span = high - low || 1
  return { at: (reward) => (100 * (reward - low)) / span }
}

function Rewards({ step, group }: { step: StepView; group: GroupView }) {
  const axis = axisOf(step)
  const bound = advantageBound(step)
  const mean = group.stats?.mean ?? meanReward(group.episodes)
  const stats = group.stats
  return (
    <>
      <ol className="rows advantages" data-testid="advantages" aria-label={S.rewards.title}>
        {group.episodes.map((episode, i) => (
          <RewardRow
            key={i}
            episode={episode}
            index={group.firstIndex + i}
            place={i + 1}
            axis={axis}
            mean={mean}
            std={stats?.std ?? null}
            bound={bound}
          />
        ))}
      </ol>
      <div className="rows-foot">
        <dl className="mean-line">
          <div>
            <dt>
              <span className="key-mean" /> {S.rewards.mean}
            </dt>
            <dd>{number(mean)}</dd>
          </div>
          <div>
            <dt>
              <span className="key-std" /> <abbr title={S.rewards.stdLong}>{S.rewards.std}</abbr>
            </dt>
            <dd>{number(stats?.std)}</dd>
          </div>
        </dl>
        {stats && !stats.signal && (
          <span className="no-signal" data-testid="no-signal">
            {S.rewards.noSignal}
          </span>
        )}
      </div>
      {stats && !stats.signal && <p className="note">{stats.mean === null ? S.rewards.noneScorable : S.rewards.noSignalWhy}</p>}
      {stats && stats.unscorable > 0 && <p className="note">{S.rewards.unscorable(stats.unscorable)}</p>}
    </>
  )
}

interface RewardRowProps {
  episode: EpisodeView | null
  index: number
  place: number
  axis: Axis
  mean: number | null
  std: number | null
  bound: number
}

function RewardRow({ episode, index, place, axis, mean, std, bound }: RewardRowProps) {
  const { selection } = useStores()
  const selected = useSelection((s) => s.episode === index)
  const reward = episode?.reward ?? null
  const unscorable = episode?.finished === true && reward === null
  return (
    <li className={selected ? 'row selected' : 'row'} onClick={() => selection.setState({ episode: index, token: null })}>
      <span className="sr-only">{S.group.episode(place)}:</span>
      <span className={unscorable ? 'bar-track unscorable' : 'bar-track'}>
        {unscorable && S.group.unscorable}
        {reward !== null && <Bar axis={axis} reward={reward} />}
        {!unscorable && mean !== null && std !== null && std > 0 && (
          <span className="std-band" style={{ left: `${axis.at(mean - std)}%`, width: `${axis.at(mean + std) - axis.at(mean - std)}%` }} />
        )}
        {!unscorable && mean !== null && <span className="mean-tick" style={{ left: `${axis.at(mean)}%` }} />}
      </span>
      <span className="reward-value">
        <span className="sr-only">{S.rewards.reward} </span>
        {number(reward)}
      </span>
      <Advantage value={episode?.advantage ?? null} bound={bound} />
    </li>
  )
}

/** From zero to the reward, so that a negative reward goes the other way. */
function Bar({ axis, reward }: { axis: Axis; reward: number }) {
  const from = Math.min(axis.at(0), axis.at(reward))
  const width = Math.abs(axis.at(reward) - axis.at(0))
  return <span className="reward-bar" style={{ left: `${from}%`, width: `${width}%` }} />
}

/** The advantage as number, sign mark and colour, with the sentence that says what it does. */
export function Advantage({ value, bound }: { value: number | null; bound: number }) {
  if (value === null) return <span className="advantage">{NONE}</span>
  const meaning = value > 0 ? S.rewards.better : value < 0 ? S.rewards.worse : S.rewards.equal
  const background = bound === 0 || value === 0 ? undefined : scaleColor('diverging', symmetricScale(bound).at(value))
  return (
    <span className="advantage" style={{ background }} title={`${S.rewards.advantage} ${signed(value)}: ${meaning}`}>
      <span className="sr-only">{S.rewards.advantage} </span>
      <span aria-hidden="true" className="sign">
        {signMark(value)}
      </span>
      {signed(value)}
    </span>
  )
}
