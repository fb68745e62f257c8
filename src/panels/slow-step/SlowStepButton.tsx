/** Opens the slow step; what it needs is fetched then. */

import { lazy, Suspense, useState } from 'react'
import { useShown } from '../../store/hooks'
import { S } from '../../ui/strings'

const fetchSlowStep = () => import('./SlowStep')
const SlowStep = lazy(fetchSlowStep)

export function SlowStepButton() {
  const [open, setOpen] = useState(false)
  const possible = useShown((view) => view.steps.some((step) => step.finished))
  return (
    <>
      <button
        type="button"
        className="button small watch"
        data-testid="watch-step"
        aria-pressed={open}
        disabled={!possible && !open}
        title={possible ? S.group.watchHint : S.group.watchLater}
        onPointerEnter={() => void fetchSlowStep().catch(() => {})}
        onClick={() => setOpen(!open)}
      >
        {S.group.watch}
      </button>
      {open && (
        <Suspense fallback={null}>
          <SlowStep onEnd={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
