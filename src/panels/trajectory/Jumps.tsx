/** Buttons that keep a token which is worth a look. */

import { memo, useMemo } from 'react'
import { useStores } from '../../store/hooks'
import type { LoggedToken } from '../../store/token-log'
import { S } from '../../ui/strings'
import { mostChanged, mostSurprising, nextTrained } from './jumps'

interface JumpsProps {
  tokens: readonly LoggedToken[]
  /** The array grows in place, and its tokens get their scores in place: a change of these looks at it anew. */
  length: number
  revision: number
  /** Where the way to the next one begins. */
  from: number
  onJump: (position: number) => void
}

const J = S.trajectory.jumps

export const Jumps = memo(function Jumps({ tokens, length, revision, from, onJump }: JumpsProps) {
  const [surprising, changed] = useMemo(() => [mostSurprising(tokens), mostChanged(tokens)], [tokens, length, revision])
  return (
    <div className="jumps" role="group" aria-label={J.label}>
      <Jump id="surprising" title={J.surprisingHint} to={surprising} onJump={onJump} text={J.surprising} />
      <Jump id="changed" title={changed === null ? J.changedWhy : J.changedHint} to={changed} onJump={onJump} text={J.changed} />
      <Jump id="previous" title={J.previous} to={nextTrained(tokens, from, -1)} onJump={onJump} text="‹" />
      <Jump id="next" title={J.next} to={nextTrained(tokens, from, 1)} onJump={onJump} text="›" />
    </div>
  )
})

interface JumpProps extends Pick<JumpsProps, 'onJump'> {
  id: string
  /** What it does, or why it cannot. */
  title: string
  /** null: there is no such token. */
  to: number | null
  text: string
}

function Jump({ id, title, to, onJump, text }: JumpProps) {
  const { selection } = useStores()
  const jump = () => {
    if (to === null) return
    selection.setState({ token: to })
    onJump(to)
  }
  return (
    <button type="button" className="button small" data-testid={`jump-${id}`} disabled={to === null} title={title} aria-label={text.length > 1 ? undefined : title} onClick={jump}>
      {text}
    </button>
  )
}
