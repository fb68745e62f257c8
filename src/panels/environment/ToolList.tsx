/** The environment's tools as the model will see them, each with an editor. A change is a changed setting: the run takes it at Reset. */

import { useState } from 'react'
import { useSetup, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import { useConnected } from '../task/useConnected'
import { type DraftTool, useDraft } from './draft'
import { MemberTabs } from './MemberTabs'

const ToolEditor = later(() => import('./ToolEditor').then((part) => part.ToolEditor))

const E = S.environment

export function ToolList() {
  const { controller } = useStores()
  const environment = useConnected()
  const any = useDraft()
  const draft = environment ? any : null
  const edited = useSetup((state) => state.config.tool_edits.length > 0)
  const [open, setOpen] = useState<string | null>(null)
  return (
    <div className="tools">
      <div className="titled">
        <h3>{S.task.tools}</h3>
        <Help of="task:tools" name={S.task.tools} />
      </div>
      {environment && <MemberTabs id="tools-of" />}
      {(!draft || draft.tools.length === 0) && <p className="note">{draft ? S.task.toolless : S.task.noTools}</p>}
      {draft?.error && (
        <p className="why" role="alert">
          {draft.error}
        </p>
      )}
      <ul data-testid="tools">
        {draft?.tools.map((each) => (
          <li key={each.id}>
            <ToolLine draft={each} open={open === each.id} onToggle={() => setOpen(open === each.id ? null : each.id)} />
            {open === each.id && <ToolEditor draft={each} tools={draft.tools.map(({ own }) => own)} />}
          </li>
        ))}
      </ul>
      {edited && (
        <button
          type="button"
          className="link"
          data-testid="tools-undo"
          onClick={() => controller.edit((config) => ({ ...config, tool_edits: [] }))}
        >
          {E.undoAll}
        </button>
      )}
    </div>
  )
}

interface ToolLineProps {
  draft: DraftTool
  open: boolean
  onToggle: () => void
}

function ToolLine({ draft, open, onToggle }: ToolLineProps) {
  const { id, own, tool } = draft
  const changed = useSetup((state) => state.config.tool_edits.some((edit) => edit.tool === id))
  const { name, description, parameters } = (tool ?? own).function
  return (
    <div className={tool ? 'tool-line' : 'tool-line left-out'}>
      <span>
        <code>
          {name}({Object.keys(parameters.properties ?? {}).join(', ')})
        </code>{' '}
        <span className="note">{description}</span>
        {changed && <span className="tool-mark"> {tool ? E.changed : E.hidden}</span>}
      </span>
      <button type="button" className="link" data-testid={`edit-tool-${id}`} aria-label={open ? E.doneEditingName(name) : E.editName(name)} aria-expanded={open} onClick={onToggle}>
        {open ? E.doneEditing : E.edit}
      </button>
    </div>
  )
}
