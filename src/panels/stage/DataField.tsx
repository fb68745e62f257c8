/** A stage's data: pasted, chosen or dropped, or taken from the last step's episodes. */

import { type DragEvent, useId, useState } from 'react'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { useStage, useStageActions } from './useStage'

export function DataField() {
  const stage = useStageActions()
  const id = useId()
  const dataset = useStage((view) => view.dataset)
  const kind = useStage((view) => view.kind)
  const [over, setOver] = useState(false)
  const [wrong, setWrong] = useState<string | null>(null)
  const file = dataset && 'file' in dataset ? dataset.file : null

  const take = (files: readonly File[]) => {
    const [first] = files
    if (!first) return
    const refused = files.length > 1 ? W.many : /\.(jsonl|ndjson|json|parquet)$/i.test(first.name) ? null : W.wrongFile(first.name)
    setWrong(refused)
    if (refused !== null) return
    stage.give({ name: first.name, file: first })
    stage.look(0)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    take([...event.dataTransfer.files])
  }
  return (
    <div
      className={over ? 'stage-data over' : 'stage-data'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="titled">
        <label htmlFor={id}>{W.data}</label>
        <Help of={W.data} text={W.dataHelp} />
      </div>
      {file ? (
        <p className="note" data-testid="stage-file-name">
          {W.chosenFile(file instanceof File ? file.name : '', file.size)}{' '}
          <button type="button" className="button small" onClick={() => stage.give(null)}>
            {W.forget}
          </button>
        </p>
      ) : (
        <textarea
          id={id}
          data-testid="stage-text"
          rows={5}
          spellCheck={false}
          aria-label={W.paste}
          placeholder={W.sample[kind]}
          value={dataset && 'text' in dataset ? dataset.text : ''}
          onChange={({ target: { value } }) => stage.give(value === '' ? null : { name: W.pastedName, text: value })}
        />
      )}
      <div className="stage-sources">
        <label className="button small">
          {W.file}
          <input
            type="file"
            className="sr-only"
            accept=".jsonl,.ndjson,.json,.parquet"
            data-testid="stage-file"
            onChange={({ target }) => {
              take([...(target.files ?? [])])
              // The same file again is a change, too.
              target.value = ''
            }}
          />
        </label>
        <span className="note">{W.drop}</span>
        <FromPlay />
      </div>
      {wrong !== null && (
        <p className="why" role="alert">
          {wrong}
        </p>
      )}
    </div>
  )
}

/** The last step's episodes as rows. */
function FromPlay() {
  const stage = useStageActions()
  const kind = useStage((view) => view.kind)
  const [least, setLeast] = useState('1')
  const number = least.trim() === '' ? NaN : Number(least)
  return (
    <span className="stage-play">
      <button type="button" className="button small" data-testid="stage-play" disabled={kind === 'sft' && Number.isNaN(number)} onClick={() => stage.fromPlay(number)}>
        {W.play[kind]}
      </button>
      {kind === 'sft' && (
        <label>
          {W.least}
          <input inputMode="decimal" autoComplete="off" data-testid="stage-least" value={least} aria-invalid={Number.isNaN(number)} onChange={(event) => setLeast(event.target.value)} />
        </label>
      )}
      <Help of={W.play[kind]} text={W.playHelp} />
    </span>
  )
}
