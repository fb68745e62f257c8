/** Below the rows of the group: what the textures mean, what went otherwise than asked, and how many groups have no signal. */

import type { Author } from '../../core/episode'
import { useSelection, useShown } from '../../store/hooks'
import { countFaults, FAULTS } from '../../store/episode-faults'
import { silentGroups } from '../../store/signal'
import type { StepView } from '../../store/view'
import { symmetricScale } from '../../ui/colors'
import { S } from '../../ui/strings'
import { ScaleBar } from '../trajectory/Legend'
import { filterName, type GroupView, isRewardless, isUnplayed } from './group-view'
import type { Rows } from './rows'

interface GroupFootProps {
  step: StepView
  group: GroupView
  rows: Rows
  /** As the strips have it. */
  bound: number
}

export function GroupFoot({ step, group, rows, bound }: GroupFootProps) {
  const first = group.episodes.find((e) => e !== null)
  return (
    <div className="rows-foot group-foot">
      <p className="group-legend">
        <Legend bound={bound} unplayed={isUnplayed(group)} />
      </p>
      <Counted seed={first?.seed} environment={first?.environment} group={group} rows={rows} />
      <Silent step={step} />
    </div>
  )
}

/** What the textures mean; once there are advantages, the model's tokens have the colour of their episode's. */
function Legend({ bound, unplayed }: { bound: number; unplayed: boolean }) {
  const swatch = (author: Author) => (
    <span key={author}>
      <span className={`swatch run-${author}`} /> {S.authors[author]}
    </span>
  )
  return (
    <span className="legend" data-testid="group-legend">
      {bound === 0 ? (
        swatch('model')
      ) : (
        <span className="legend-advantage">
          <ScaleBar scale={symmetricScale(bound)} values={false} /> {S.authors.model}, {S.group.byAdvantage}
        </span>
      )}
      {!unplayed && swatch('environment')}
      {swatch('template')}
    </span>
  )
}

/** Each kind by itself, those that did not occur left out. */
function Counted({ seed, environment, group, rows }: { seed: number | undefined; environment: string | undefined; group: GroupView; rows: Rows }) {
  const counts = countFaults(group.episodes)
  const parts = FAULTS.flatMap((fault) => (counts[fault] > 0 ? [[S.group.signs[fault], S.group.option(filterName(fault, group), counts[fault])].filter(Boolean).join(' ')] : []))
  const shown = rows.rows.length < group.size ? [S.group.counts(rows.rows.length, group.size)] : []
  const order = rows.unordered === null ? [] : [rows.unordered === 'later' ? S.group.orderLater : S.group.orderUnknown]
  return (
    <p className="note group-counts" data-testid="group-counts">
      {group.discarded && (
        <strong data-testid="discarded" title={S.group.discardedWhy}>
          {S.group.discarded}
        </strong>
      )}
      {environment !== undefined && <b data-testid="group-environment">{environment}</b>}
      {seed !== undefined && <em>{isRewardless(group) ? S.group.promptSeed(seed) : S.group.seed(seed)}</em>}
      {[...shown, ...parts, ...order].map((part) => (
        <span key={part}>{part}</span>
      ))}
    </p>
  )
}

/** How often there is nothing to learn from: in this step and in the last ones. */
function Silent({ step }: { step: StepView }) {
  const history = useShown((view) => view.history)
  const selected = useSelection((s) => s.step)
  const groups = step.groups
  if (groups === null) return <p className="note silent-groups" />
  const silent = groups.filter((group) => !group.signal).length
  const recent = silentGroups(history, selected ?? step.step)
  const share = history.find((s) => s.step === step.step)?.metrics['frac_reward_zero_std']
  const parts = [
    S.group.silent(silent, groups.length),
    ...(recent.steps > 1 ? [S.group.silentRecent(recent.silent, recent.groups, recent.steps)] : []),
  ]
  return (
    <p className="note silent-groups" data-testid="silent-groups">
      {parts.join(', ')}
      {typeof share === 'number' && ` (${S.group.zeroStd(share)})`}
    </p>
  )
}
