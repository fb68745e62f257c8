/** Column 2: the episodes of one group, side by side. */

import type { KeyboardEvent } from 'react'
import { useDisplay, usePlannedStep, useReplay, useSelectedStep, useSelection, useShown, useStores } from '../../store/hooks'
import type { RunView, StepView } from '../../store/view'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { advantageBound } from '../rewards/advantage-scale'
import { EpisodeRow } from './EpisodeRow'
import { GroupFoot } from './GroupFoot'
import { GroupPicker } from './GroupPicker'
import { GroupTools } from './GroupTools'
import { filterName, groupOf, type GroupView } from './group-view'
import { usePointing } from './pointing'
import { rowsClass, useRows } from './rows'

export function GroupPanel() {
  const step = useSelectedStep()
  const index = useSelection((s) => s.episode)
  const group = step ? groupOf(step, index) : null
  usePointing()
  return (
    <Panel
      id="group"
      number={2}
      title={S.group.title}
      lead={S.group.lead}
      aside={
        <span className="panel-aside">
          <OldStep />
          {step && group && <GroupPicker step={step} group={group.group} size={group.size} />}
        </span>
      }
    >
      {step ? <Episodes step={step} index={index} /> : <Nothing />}
    </Panel>
  )
}

function Nothing() {
  const selected = useSelection((s) => s.step)
  const planned = usePlannedStep()
  const coming = useReplay(({ state }) => state === 'coming')
  const staging = useShown((view) => view.plan !== null)
  if (selected !== null) return <p className="empty">{S.group.gone(selected)}</p>
  return (
    <>
      <Episodes step={planned} index={0} />
      {!coming && <p className="note">{staging ? S.group.staging : S.group.empty}</p>}
    </>
  )
}

/** Says so when an older step than the newest is in view. */
function OldStep() {
  const { selection } = useStores()
  const selected = useSelection((s) => s.step)
  if (selected === null) return null
  return (
    <span className="old-step">
      {S.group.step(selected)}{' '}
      <button type="button" className="link" onClick={() => selection.setState({ step: null })}>
        {S.group.follow}
      </button>
    </span>
  )
}

function Episodes({ step, index }: { step: StepView; index: number }) {
  const group = groupOf(step, index)
  const rows = useRows(step, group)
  const longest = useShown(longestKept)
  const bound = advantageBound(step)
  const tabStop = (rows.rows.find((row) => row.index === index) ?? rows.rows[0])?.index
  return (
    <>
      <GroupTools group={group} />
      <ol className={group.discarded ? `${rowsClass(group.size)} discarded` : rowsClass(group.size)} aria-label={S.group.title} onKeyDown={useRoving()}>
        {rows.rows.map((row) => (
          <EpisodeRow key={row.index} {...row} longest={longest} bound={bound} inTabOrder={row.index === tabStop} />
        ))}
        <NoneLeft shown={rows.rows.length} group={group} />
      </ol>
      <GroupFoot step={step} group={group} rows={rows} bound={bound} />
    </>
  )
}

function NoneLeft({ shown, group }: { shown: number; group: GroupView }) {
  const { display } = useStores()
  const only = useDisplay((d) => d.only)
  if (shown > 0 || only === 'all') return null
  return (
    <li className="note none-left">
      {S.group.noneLeft(filterName(only, group))}{' '}
      <button type="button" className="link" onClick={() => display.setState({ only: 'all' })}>
        {S.group.showAll}
      </button>
    </li>
  )
}

/** Arrow keys, Home and End move through the rows as they are listed, and select. */
function useRoving() {
  const { selection } = useStores()
  return (event: KeyboardEvent<HTMLElement>) => {
    const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-episode]')]
    const at = rows.findIndex((row) => row.contains(event.target as Node))
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (at < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const row = rows[to]
    if (!row) return
    selection.setState({ episode: Number(row.dataset['episode']), token: null })
    row.querySelector('button')?.focus()
  }
}

/** Tokens after the prompt of the longest kept episode: against the last steps too, so that growing strips do not rescale. */
function longestKept(view: RunView): number {
  return Math.max(1, ...view.steps.flatMap((step) => step.episodes.map((e) => e.length - e.promptLength)))
}
