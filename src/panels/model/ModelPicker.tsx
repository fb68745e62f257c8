/** Which model: a short list, or any repository on the Hub. Choosing looks it up; nothing is downloaded. */

import { useId, useState } from 'react'
import type { RunConfig } from '../../core/config'
import { CURATED_MODELS, isHubModel } from '../../env/models'
import { useSetup, useStores } from '../../store/hooks'
import { suitedSettings, writeReference } from '../../store/model-settings'
import { bytes, parameterCount, plain } from '../../ui/format'
import { Help } from '../../ui/Help'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'

const ReferenceForm = later(() => import('./ReferenceForm').then((part) => part.ReferenceForm))

const OTHER = 'other'

/** 'learning_rate 2e−5, prompts_per_step 1'. */
function suitedText(config: RunConfig): string {
  return suitedSettings(config)
    .map(([key, value]) => `${key} ${typeof value === 'number' ? plain(value) : value === null ? 'off' : typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ')
}

/** `onRefused` hears whether the field for another model holds what cannot be read. */
export function ModelPicker({ onRefused }: { onRefused: (refused: boolean) => void }) {
  const id = useId()
  const { controller } = useStores()
  const model = useSetup((s) => s.config.model)
  const revision = useSetup((s) => s.config.model_revision)
  const suited = useSetup((s) => suitedText(s.config))
  // "Another model" is chosen before it has a name.
  const [typing, setTyping] = useState(false)
  const curated = CURATED_MODELS.find((m) => m.model === model && revision === 'main')
  const own = typing || !curated
  const choose = (value: string) => {
    const chosen = CURATED_MODELS.find((m) => m.model === value)
    setTyping(!chosen)
    if (chosen) controller.model.choose({ model: chosen.model, model_revision: 'main' })
  }
  return (
    <>
      <div className="field headline">
        <label htmlFor={id}>{S.model.title}</label>
        <Help of="model:model" name={S.model.title} />
        <select id={id} data-testid="model-select" value={own ? OTHER : curated.model} onChange={(e) => choose(e.target.value)}>
          {CURATED_MODELS.map(({ model: value, title, parameters, downloadBytes }) => (
            <option key={value} value={value}>
              {title} · {downloadBytes === 0 ? S.model.shipped : `${parameterCount(parameters)} · ${bytes(downloadBytes)}`}
            </option>
          ))}
          <option value={OTHER}>{S.model.other}</option>
        </select>
      </div>
      {own && (
        <ReferenceForm
          key={`${model}@${revision}`}
          label={S.model.reference}
          initial={isHubModel(model) && !curated ? writeReference(model, revision) : ''}
          button={S.model.lookUp}
          testId="model-reference"
          onRefused={onRefused}
          onUse={(repo, model_revision) => controller.model.choose({ model: repo, model_revision })}
        />
      )}
      {suited !== '' && (
        <p className="note" data-testid="suited-settings">
          {S.model.suited(suited)}
        </p>
      )}
    </>
  )
}
