/** Asks before another environment, a server's mostly, ends a run; the safe answer has the focus. */

import { useEffect, useRef } from 'react'
import { useRun } from '../../store/hooks'
import { isMidStep } from '../../store/view'
import { S } from '../../ui/strings'
import { useKeptStep } from '../runs/kept-step'
import type { Connecting } from './useConnecting'

export function StartOver({ connecting }: { connecting: Connecting }) {
  const kept = useKeptStep()
  const half = useRun(isMidStep)
  const recording = useRun((view) => view.recording !== null)
  const keep = useRef<HTMLButtonElement>(null)
  const { asked, confirm, cancel } = connecting
  useEffect(() => {
    if (asked !== null) keep.current?.focus()
  }, [asked])
  if (asked === null) return null
  const connects = asked.kind === 'openenv'
  return (
    <div className="start-over" role="alert" data-testid="start-over">
      <p>{recording && kept === null ? S.address.endsRecording(connects) : S.address.ends(kept, half, connects)}</p>
      <button type="button" className="button" data-testid="keep-run" ref={keep} onClick={cancel}>
        {S.address.keep}
      </button>
      <button type="button" className="button" data-testid="connect-anyway" onClick={confirm}>
        {S.address.confirm(connects)}
      </button>
    </div>
  )
}
