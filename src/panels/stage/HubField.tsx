/** A dataset of the Hub as a stage's data: its id, then its config and split where there are several. */

import { useId, useState } from 'react'
import { describeError } from '../../core/errors'
import { datasetName, parseDatasetReference } from '../../hub/datasets/reference'
import type { StageDataset } from '../../worker/protocol'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { useStage, useStageActions } from './useStage'

/** Asked for when a person presses, never before. */
export function HubField() {
  const stage = useStageActions()
  const id = useId()
  const [text, setText] = useState('')
  const dataset = useStage((view) => view.dataset)
  const [refused, setRefused] = useState({ why: '', dataset })
  // Other data have been taken since.
  const wrong = refused.dataset === dataset ? refused.why : ''
  const busy = useStage(({ state, looking }) => state !== null || looking)
  const read = () => {
    try {
      const hub = parseDatasetReference(text)
      stage.give({ name: datasetName(hub), hub })
      stage.look(0)
    } catch (error) {
      setRefused({ why: describeError(error), dataset })
    }
  }
  return (
    <>
      <form
        className="stage-hub"
        onSubmit={(event) => {
          event.preventDefault()
          read()
        }}
      >
        <label htmlFor={id}>{W.hub}</label>
        <Help of={W.hub} text={W.hubHelp} />
        <input
          id={id}
          data-testid="stage-hub"
          placeholder={W.hubSample}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={text}
          aria-invalid={wrong !== ''}
          aria-describedby={wrong === '' ? undefined : `${id}-why`}
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" className="button small" data-testid="stage-hub-read" disabled={busy || text.trim() === ''}>
          {W.hubRead}
        </button>
      </form>
      {wrong !== '' && (
        <p className="why" id={`${id}-why`} role="alert">
          {wrong}
        </p>
      )}
    </>
  )
}

/** The dataset that was taken, and what of it. */
export function HubChosen({ dataset }: { dataset: Extract<StageDataset, { hub: unknown }> }) {
  const stage = useStageActions()
  const found = useStage((view) => view.hub)
  const busy = useStage((view) => view.state !== null)
  const { name, hub } = dataset
  const take = (change: { config: string; split: string | null }) => {
    stage.give({ name, hub: { ...hub, ...change } })
    stage.look(0)
  }
  const splits = found?.choices.find(({ config }) => config === found.config)?.splits ?? []
  return (
    <div className="stage-chosen" data-testid="stage-hub-chosen">
      <p className="note">
        <a href={`https://huggingface.co/datasets/${hub.repo}`} target="_blank" rel="noreferrer">
          {name}
        </a>{' '}
        {found && W.at(found.sha)}{' '}
        <button type="button" className="button small" disabled={busy} onClick={() => stage.give(null)}>
          {W.forget}
        </button>
      </p>
      {found && (
        <div className="stage-parts">
          <Choice name="config" label={W.config} value={found.config} options={found.choices.map(({ config }) => config)} disabled={busy} onChoose={(config) => take({ config, split: null })} />
          <Choice name="split" label={W.split} value={found.split} options={splits} disabled={busy} onChoose={(split) => take({ config: found.config, split })} />
        </div>
      )}
      {found?.more && <p className="note">{W.hubMore}</p>}
    </div>
  )
}

/** A word where there is nothing to choose. */
function Choice(props: { name: string; label: string; value: string; options: readonly string[]; disabled: boolean; onChoose: (value: string) => void }) {
  const { name, label, value, options, disabled, onChoose } = props
  const id = useId()
  if (options.length < 2) return <span className="note">{W.part(label, value)}</span>
  return (
    <span className="stage-part-choice">
      <label htmlFor={id}>{label}</label>
      <select id={id} data-testid={`stage-${name}`} value={value} disabled={disabled} onChange={({ target }) => onChoose(target.value)}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </span>
  )
}
