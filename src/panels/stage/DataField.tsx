/** A stage's data: pasted, chosen or dropped, from the Hub, or taken from the last step's episodes. */

import { useId, useState } from 'react'
import { readNumber } from '../../core/typed-number'
import { DATASET_FILE_STRINGS } from '../../ui/dataset-file-strings'
import { DatasetFileButton, DropsDataset } from '../../ui/DatasetFile'
import { Help } from '../../ui/Help'
import { playedRows } from '../../store/stage-store'
import { saveFile } from '../../ui/save-file'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { HubChosen, HubField } from './HubField'
import { useStage, useStageActions } from './useStage'

export function DataField() {
  const stage = useStageActions()
  const id = useId()
  const dataset = useStage((view) => view.dataset)
  const kind = useStage((view) => view.kind)
  const [wrong, setWrong] = useState<string | null>(null)
  const file = dataset && 'file' in dataset ? dataset.file : null

  const taking = {
    onFile: (chosen: File) => {
      setWrong(null)
      stage.give({ name: chosen.name, file: chosen })
      stage.look(0)
    },
    onRefused: setWrong,
  }
  return (
    <DropsDataset className="stage-data" {...taking}>
      <div className="titled">
        <label htmlFor={id}>{W.data}</label>
        <Help of={W.data} text={W.dataHelp} />
      </div>
      {dataset && 'hub' in dataset ? (
        <HubChosen dataset={dataset} />
      ) : file ? (
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
      <Own />
      <div className="stage-sources">
        <DatasetFileButton testId="stage-file" {...taking} />
        <span className="note">{DATASET_FILE_STRINGS.drop}</span>
        <FromPlay />
      </div>
      <HubField />
      {wrong !== null && (
        <p className="why" role="alert">
          {wrong}
        </p>
      )}
    </DropsDataset>
  )
}

/** What can be done with rows that are here as text, and with what they took the place of. */
function Own() {
  const stage = useStageActions()
  const dataset = useStage((view) => view.dataset)
  const aside = useStage((view) => view.aside)
  const mine = useStage(playedRows)
  const busy = useStage((view) => view.state !== null)
  const text = dataset && 'text' in dataset ? dataset.text : ''
  if (text.trim() === '' && !aside) return null
  return (
    <div className="stage-sources">
      {mine > 0 && (
        <span className="note" data-testid="stage-mine">
          {W.mineCount(mine)}
        </span>
      )}
      {text.trim() !== '' && (
        <button type="button" className="button small" data-testid="stage-save" onClick={() => saveFile(W.savedName(dataset?.name ?? ''), new Blob([`${text.trimEnd()}\n`], { type: 'application/jsonl' }))}>
          {W.save}
        </button>
      )}
      {aside && (
        <button type="button" className="button small" data-testid="stage-aside" disabled={busy} onClick={stage.takeBack}>
          {W.takeBack(aside.name)}
        </button>
      )}
    </div>
  )
}

/** The last step's episodes as rows. */
function FromPlay() {
  const stage = useStageActions()
  const kind = useStage((view) => view.kind)
  const [least, setLeast] = useState('1')
  const number = readNumber(least)
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
