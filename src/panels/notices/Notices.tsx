/** What went wrong: a failure below the bar, which stays in view, warnings above the loop; and what need not be acted on, behind a button. */

import { useLayoutEffect, useRef } from 'react'
import { useRun, useSetup } from '../../store/hooks'
import { plural } from '../../ui/format'
import { S } from '../../ui/strings'
import { useTransport } from '../bar/useTransport'
import { useSettled } from './useSettled'

/** Why the run or the loading failed and what to do next, in view wherever the page is scrolled to. */
export function Failure() {
  const run = useRun((view) => view.run)
  const settled = useSettled()
  const { reset } = useTransport()
  if (run.state !== 'failed' || settled) return null
  // Who mended it and presses Train meets the same failure again.
  return <FailureLine error={run.error} advice={reset.can && reset.urged ? `${run.advice} ${S.notices.mended}` : run.advice} />
}

function FailureLine({ error, advice }: { error: string; advice: string }) {
  const box = useRef<HTMLDivElement>(null)
  // What sticks to the bar's lower edge must stick below this instead.
  useLayoutEffect(() => {
    const { current } = box
    if (!current) return
    const root = document.documentElement.style
    const watch = new ResizeObserver(() => root.setProperty('--failure-height', `${current.offsetHeight}px`))
    watch.observe(current)
    return () => {
      watch.disconnect()
      root.removeProperty('--failure-height')
    }
  }, [])
  return (
    <div className="alerts failure-line" ref={box}>
      <p className="notice failure" role="alert" data-testid="failure">
        <strong>{error}</strong> {advice}
      </p>
    </div>
  )
}

/** What of the link could not be taken. */
export function Alerts() {
  const problems = useSetup((setup) => setup.problems)
  if (problems.length === 0) return null
  return (
    <div className="alerts">
      {problems.map((text) => (
        <p key={text} className="notice warning" role="alert">
          {text}
        </p>
      ))}
    </div>
  )
}

/** The button that says how many notices there are; nothing on the page moves when one arrives. */
export function NoticesButton() {
  const notices = useRun((view) => view.notices)
  const steps = useRun((view) => view.steps.at(-1)?.step ?? 0)
  if (notices.length === 0) return null
  const warned = notices.some((n) => n.level === 'warning')
  return (
    <>
      <button
        type="button"
        className={warned ? 'button quiet notices-button warning' : 'button quiet notices-button'}
        popoverTarget="notices"
      >
        {plural(notices.length, S.notices.one, S.notices.many)}
      </button>
      <ul id="notices" popover="auto" className="notices" aria-label={S.notices.title} data-testid="notices">
        {notices.toReversed().map((notice) => (
          <li key={notice.id} className={`notice ${notice.level}`}>
            <span className="notice-level">{S.notices[notice.level]}</span> {notice.text}
            {notice.count > 1 && (
              <span className="notice-count"> {notice.steps.length > 1 ? S.notices.steps(notice.steps, steps) : S.notices.times(notice.count)}</span>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
