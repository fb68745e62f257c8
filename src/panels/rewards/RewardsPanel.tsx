/** Column 3: each episode's reward as a bar, the group's mean and spread, and the advantage that follows. */

import { usePlannedStep, useReplay, useSelectedStep, useSelection, useShown, useShownGrpo } from '../../store/hooks'
import type { StepView } from '../../store/view'
import { number } from '../../ui/format'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { type GroupView, groupOf, meanReward } from '../group/group-view'
import { rowsClass, useRows } from '../group/rows'
import { advantageBound } from './advantage-scale'
import { type Axis, axisOf } from './axis'
import { Explained } from './Explained'
import { RewardRow } from './RewardRow'

export function RewardsPanel() {
  const step = useSelectedStep()
  const index = useSelection((s) => s.episode)
  const selected = useSelection((s) => s.step)
  const planned = usePlannedStep()
  const shown = step ?? (selected === null ? planned : null)
  const coming = useReplay(({ state }) => state === 'coming')
  const { scale_rewards } = useShownGrpo()
  return (
    <Panel id="rewards" number={3} title={S.rewards.title} lead={S.rewards.lead[scale_rewards]}>
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

function Rewards({ step, group }: { step: StepView; group: GroupView }) {
  const { rows } = useRows(step, group)
  const axis = axisOf(step)
  const bound = advantageBound(step)
  const { stats } = group
  const mean = stats?.mean ?? meanReward(group.episodes)
  return (
    <>
      <AxisHead axis={axis} />
      <ol className={`${rowsClass(group.size)} advantages`} data-testid="advantages" aria-label={S.rewards.title}>
        {rows.map((row) => (
          <RewardRow key={row.index} {...row} axis={axis} mean={mean} std={stats?.std ?? null} bound={bound} />
        ))}
      </ol>
      <Foot group={group} mean={mean} />
      <Explained step={step} group={group} />
    </>
  )
}

/** What the bars are measured by, and what stands in the columns beside them. */
function AxisHead({ axis }: { axis: Axis }) {
  const ticks = [axis.low, 0, axis.high].filter((value, i, all) => all.indexOf(value) === i)
  return (
    <div className="rows-head axis-head" aria-hidden="true">
      <span className="axis">
        {ticks.map((value) => (
          <span key={value} className={axis.at(value) >= 99 ? 'at-end' : axis.at(value) <= 1 ? '' : 'between'} style={{ left: `${axis.at(value)}%` }}>
            {number(value, 2)}
          </span>
        ))}
      </span>
      <span className="reward-value">{S.rewards.reward}</span>
      <span className="advantage-head">{S.rewards.advantage}</span>
    </div>
  )
}

function Foot({ group, mean }: { group: GroupView; mean: number | null }) {
  const { stats, episodes } = group
  const scorable = episodes.filter((e) => e?.reward !== null && e?.reward !== undefined).length
  const partial = stats !== null && stats.unscorable > 0
  return (
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
        {partial && <div className="note">{S.rewards.over(scorable, group.size)}</div>}
      </dl>
      {stats && !stats.signal && (
        <span className="no-signal" data-testid="no-signal">
          {S.rewards.noSignal}
        </span>
      )}
    </div>
  )
}
