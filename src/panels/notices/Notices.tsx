/** What a person should know but need not act on at once, and the one error that stops a run. */

import { useRun, useSetup } from '../../store/hooks'
import { S } from '../../ui/strings'

export function Notices() {
  const run = useRun((view) => view.run)
  const notices = useRun((view) => view.notices)
  const problems = useSetup((setup) => setup.problems)
  if (run.state !== 'failed' && notices.length === 0 && problems.length === 0) return null
  return (
    <div className="notices" data-testid="notices">
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
      {notices.length > 0 && (
        <ul aria-label={S.notices.title}>
          {notices.toReversed().map((notice) => (
            <li key={notice.id} className={`notice ${notice.level}`}>
              <span className="notice-level">{S.notices[notice.level]}</span> {notice.text}
              {notice.count > 1 && <span className="notice-count"> {S.notices.times(notice.count)}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
