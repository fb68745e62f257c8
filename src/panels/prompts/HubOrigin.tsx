/** A dataset on the Hub: its id, then its config and split where there are several. Asked for when a person presses, never before. */

import { useId } from 'react'
import { describeError } from '../../core/errors'
import { parseDatasetReference } from '../../hub/datasets/reference'
import type { PromptsLook } from '../../worker/protocol'
import { Help } from '../../ui/Help'
import { PROMPTS_STRINGS as W } from '../../ui/prompts-strings'
import { usePrompts, usePromptsActions } from './usePrompts'

export function HubOrigin() {
  const prompts = usePromptsActions()
  const id = useId()
  const { reference, looking, look, error } = usePrompts((view) => view)
  const read = () => {
    try {
      const { repo, revision, config, split, file } = parseDatasetReference(reference)
      if (file !== null) throw new Error(W.noFile(file))
      prompts.look({ kind: 'hub', repo, revision, config, split })
    } catch (wrong) {
      prompts.refuse(describeError(wrong))
    }
  }
  return (
    <>
      <form
        className="prompts-hub"
        onSubmit={(event) => {
          event.preventDefault()
          read()
        }}
      >
        <span className="titled">
          <label htmlFor={id} className="note">
            {W.reference}
          </label>
          <Help of={W.reference} text={W.referenceHelp} />
        </span>
        <input
          id={id}
          data-testid="prompts-reference"
          placeholder={W.sampleReference}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={reference}
          aria-invalid={error !== ''}
          onChange={({ target }) => prompts.edit({ reference: target.value })}
        />
        <button type="submit" className="button" data-testid="prompts-read" disabled={looking || reference.trim() === ''}>
          {W.read}
        </button>
      </form>
      {look?.facts.place && <Parts look={look} place={look.facts.place} />}
    </>
  )
}

function Parts({ look: { dataset, choices }, place }: { look: PromptsLook; place: NonNullable<PromptsLook['facts']['place']> }) {
  const prompts = usePromptsActions()
  const take = (config: string, split: string | null) => dataset.kind === 'hub' && prompts.look({ ...dataset, config, split })
  const splits = choices.find(({ config }) => config === place.config)?.splits ?? []
  return (
    <p className="note prompts-parts" data-testid="prompts-place">
      <a href={`https://huggingface.co/datasets/${place.repo}`} target="_blank" rel="noreferrer">
        {place.repo}
      </a>{' '}
      {W.at(place.sha)}
      <Choice label={W.config} name="config" value={place.config} options={choices.map(({ config }) => config)} onChoose={(config) => take(config, null)} />
      <Choice label={W.split} name="split" value={place.split} options={splits} onChoose={(split) => take(place.config, split)} />
    </p>
  )
}

/** Words where there is nothing to choose. */
function Choice({ label, name, value, options, onChoose }: { label: string; name: string; value: string; options: readonly string[]; onChoose: (value: string) => void }) {
  if (options.length < 2) return <span>{` ${label} ${value}`}</span>
  return (
    <label>
      {label}
      <select data-testid={`prompts-${name}`} value={value} onChange={({ target }) => onChoose(target.value)}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  )
}
