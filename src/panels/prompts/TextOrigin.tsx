/** Rows of a person's own: pasted as JSONL, or out of a file that is chosen or dropped. */

import { type DragEvent, useId, useState } from 'react'
import { Help } from '../../ui/Help'
import { PROMPTS_STRINGS as W } from '../../ui/prompts-strings'
import { usePrompts, usePromptsActions } from './usePrompts'

/** As for files, whose rows the worker counts. */
const MOST_TEXT = 1e6

export function TextOrigin() {
  const prompts = usePromptsActions()
  const id = useId()
  const { text, looking } = usePrompts((view) => view)
  const [over, setOver] = useState(false)
  const take = (files: readonly File[]) => {
    const [first] = files
    if (!first) return
    const refused = files.length > 1 ? W.many : /\.(jsonl|ndjson|json|parquet)$/i.test(first.name) ? null : W.wrongFile(first.name)
    if (refused === null) prompts.look({ kind: 'file', name: first.name, file: first })
    else prompts.refuse(refused)
  }
  const show = () => (text.length > MOST_TEXT ? prompts.refuse(W.tooLong(text.length)) : prompts.look({ kind: 'text', name: W.pastedName, text }))
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    take([...event.dataTransfer.files])
  }
  return (
    <div
      className={over ? 'prompts-text over' : 'prompts-text'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <span className="titled">
        <label htmlFor={id} className="note">
          {W.rows}
        </label>
        <Help of={W.rows} text={W.rowsHelp} />
      </span>
      <textarea id={id} data-testid="prompts-text" rows={4} spellCheck={false} placeholder={W.sample} value={text} onChange={({ target }) => prompts.edit({ text: target.value })} />
      <div className="prompts-use">
        <button type="button" className="button" data-testid="prompts-show" disabled={looking || text.trim() === ''} onClick={show}>
          {W.show}
        </button>
        <label className="button small">
          {W.file}
          <input
            type="file"
            className="sr-only"
            accept=".jsonl,.ndjson,.json,.parquet"
            data-testid="prompts-file"
            onChange={({ target }) => {
              take([...(target.files ?? [])])
              // The same file again is a change, too.
              target.value = ''
            }}
          />
        </label>
      </div>
      <p className="note">{W.drop}</p>
    </div>
  )
}
