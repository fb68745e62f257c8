/** Which of several environments is looked at and played; nothing where there is one. */

import { usePlay, useShown, useStores } from '../../store/hooks'
import { Segmented } from '../../ui/Segmented'
import { S } from '../../ui/strings'

const NONE: readonly never[] = []

/** `id`: the test id. */
export function MemberTabs({ id }: { id: string }) {
  const { play } = useStores()
  const members = useShown((view) => view.environment?.members ?? NONE)
  const chosen = usePlay((view) => view.member)
  if (members.length < 2) return null
  const options = members.map((_, i) => String(i))
  const names = Object.fromEntries(members.map(({ name }, i) => [String(i), name]))
  return <Segmented id={id} label={S.task.toolsOf} options={options} names={names} value={String(Math.min(chosen, members.length - 1))} onChange={(next) => play.choose(Number(next))} />
}
