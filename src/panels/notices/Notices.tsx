/** What went wrong, above the loop; and what a person should know but need not act on, behind a button in the bar. */

import { useRun, useSetup } from '../../store/hooks'
import { plural } from '../../ui/format'
import { S } from '../../ui/strings'

export function Alerts() {
  const run = useRun((view) => view.run)
  const problems = useSetup((setup) => setup.problems)
  if (run.state !== 'failed' && problems.length === 0) return null
  return (
    <div className="alerts">
      {run.state === 'failed' && (
        <p className="notice failure" role="alert" data-testid="failure">
          <strong>{run.error}</strong> {run.advice}
        </p>
      )}
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
            {notice.count > 1 && <span className="notice-count"> {S.notices.times(notice.count)}</span>}
          </li>
        ))}
      </ul>
    </>
  )
}
