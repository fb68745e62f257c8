/** Above the rows of the group: in which order and which of them, and the way into the slow step. */

import { useDisplay, useStores } from '../../store/hooks'
import { EPISODE_ORDERS, type EpisodeOrder } from '../../store/display'
import { countFaults, EPISODE_FILTERS, type EpisodeFilter } from '../../store/episode-faults'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import { SlowStepButton } from '../slow-step/SlowStepButton'
import { filterName, type GroupView } from './group-view'

export function GroupTools({ group }: { group: GroupView }) {
  const { display } = useStores()
  const order = useDisplay((d) => d.order)
  const only = useDisplay((d) => d.only)
  const counts = countFaults(group.episodes)
  return (
    <div className="group-tools rows-head">
      <label title={S.group.orderHint}>
        {S.group.order}{' '}
        <select data-testid="episode-order" value={order} onChange={(e) => display.setState({ order: oneOf(EPISODE_ORDERS, e.target.value) })}>
          {EPISODE_ORDERS.map((option: EpisodeOrder) => (
            <option key={option} value={option}>
              {S.group.orders[option]}
            </option>
          ))}
        </select>
      </label>
      <Help of="view:order" name={S.group.order} />
      <label title={S.group.filterHint}>
        {S.group.filter}{' '}
        <select
          data-testid="episode-filter"
          className={only === 'all' ? '' : 'narrowed'}
          value={only}
          onChange={(e) => display.setState({ only: oneOf(EPISODE_FILTERS, e.target.value) })}
        >
          {EPISODE_FILTERS.map((option: EpisodeFilter) => (
            <option key={option} value={option}>
              {S.group.option(filterName(option, group), counts[option])}
            </option>
          ))}
        </select>
      </label>
      <Help of="view:only" name={S.group.filter} />
      <SlowStepButton />
    </div>
  )
}

function oneOf<T extends string>(options: readonly T[], text: string): T {
  return options.find((option) => option === text) ?? (options[0] as T)
}
