/** The bar's button that opens Take away, about the run that is loaded or else the newest. */

import { useRuns, useStores } from '../../store/hooks'
import { loadedId } from '../../store/runs-store'
import { S } from '../../ui/strings'
import { IconTakeAway } from '../bar/icons'

export function TakeAwayButton() {
  const { takeAway, runs } = useStores()
  const subject = useRuns((view) => loadedId(view) ?? view.runs?.[0]?.id ?? '')
  const open = () => {
    runs.list()
    takeAway.show(subject)
  }
  return (
    <button type="button" className="button quiet worded" data-testid="take-away-open" title={S.bar.takeAwayHint} onClick={open}>
      <IconTakeAway />
      <span>{S.bar.takeAway}</span>
    </button>
  )
}
