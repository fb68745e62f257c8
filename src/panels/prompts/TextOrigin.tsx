/** Rows of a person's own: pasted as JSONL, or out of a file that is chosen or dropped. */

import { useId } from 'react'
import { DATASET_FILE_STRINGS } from '../../ui/dataset-file-strings'
import { DatasetFileButton, DropsDataset } from '../../ui/DatasetFile'
import { Help } from '../../ui/Help'
import { PROMPTS_STRINGS as W } from '../../ui/prompts-strings'
import { usePrompts, usePromptsActions } from './usePrompts'

/** As for files, whose rows the worker counts. */
const MOST_TEXT = 1e6

export function TextOrigin() {
  const prompts = usePromptsActions()
  const id = useId()
  const { text, looking } = usePrompts((view) => view)
  const taking = { onFile: (file: File) => prompts.look({ kind: 'file', name: file.name, file }), onRefused: (why: string) => prompts.refuse(why) }
  const show = () => (text.length > MOST_TEXT ? prompts.refuse(W.tooLong(text.length)) : prompts.look({ kind: 'text', name: W.pastedName, text }))
  return (
    <DropsDataset className="prompts-text" {...taking}>
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
        <DatasetFileButton testId="prompts-file" {...taking} />
      </div>
      <p className="note">{DATASET_FILE_STRINGS.drop}</p>
    </DropsDataset>
  )
}
