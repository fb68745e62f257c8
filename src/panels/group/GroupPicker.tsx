/** Chooses which of the step's groups is in view; each button's fill is its group's mean reward. */

import { useStores } from '../../store/hooks'
import type { StepView } from '../../store/view'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import { groupOf, meanReward } from './group-view'

/** More groups than this do not fit as buttons. */
const MOST_BUTTONS = 12

export function GroupPicker({ step, group, size }: { step: StepView; group: number; size: number }) {
  const { selection } = useStores()
  if (step.groupCount < 2) return null
  const choose = (next: number) => selection.setState({ episode: next * size, token: null })
  if (step.groupCount > MOST_BUTTONS) {
    return (
      <label className="group-select">
        {S.group.picker}{' '}
        <select value={group} onChange={(e) => choose(Number(e.target.value))}>
          {Array.from({ length: step.groupCount }, (_, i) => (
            <option key={i} value={i}>
              {i + 1}
            </option>
          ))}
        </select>{' '}
        {S.group.of(step.groupCount)}
      </label>
    )
  }
  return (
    <div className="group-picker" role="group" aria-label={S.group.picker} data-testid="group-picker">
      {Array.from({ length: step.groupCount }, (_, i) => {
        const view = groupOf(step, i * size)
        const mean = meanReward(view.episodes)
        const silent = view.stats !== null && !view.stats.signal
        const label = [`${S.group.picker} ${i + 1}`, mean !== null && `${S.rewards.mean} ${number(mean)}`, silent && S.rewards.noSignal]
          .filter(Boolean)
          .join(', ')
        const fill = mean === null ? 0 : Math.min(1, Math.max(0, mean))
        return (
          <button
            key={i}
            type="button"
            className={silent ? 'group-button silent' : 'group-button'}
            aria-pressed={i === group}
            aria-label={label}
            title={label}
            onClick={() => choose(i)}
          >
            <span className="group-fill" style={{ height: `${fill * 100}%` }} />
            <span className="group-number">{i + 1}</span>
          </button>
        )
      })}
    </div>
  )
}
