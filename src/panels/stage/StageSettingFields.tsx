/** A stage's settings under TRL's names, each with its '?'. What was typed stays, also where it is no number. */

import { useId, useState } from 'react'
import { STAGE_LOSSES, type StageKind, type StageSettings } from '../../core/stage'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { useStage, useStageActions } from './useStage'

type Key = keyof StageSettings
const SCHEDULERS = ['linear', 'cosine', 'constant'] as const
const FIRST: Readonly<Record<StageKind, readonly Key[]>> = {
  sft: ['learning_rate', 'per_device_train_batch_size', 'num_train_epochs', 'assistant_only_loss'],
  dpo: ['learning_rate', 'per_device_train_batch_size', 'num_train_epochs', 'beta', 'loss_type', 'label_smoothing', 'assistant_only_loss'],
}
const MORE: readonly Key[] = ['max_steps', 'max_length', 'lr_scheduler_type', 'warmup_steps', 'weight_decay', 'max_grad_norm', 'seed']

export function StageSettingFields() {
  const kind = useStage((view) => view.kind)
  return (
    <div className="stage-settings" key={kind}>
      {FIRST[kind].map((key) => (
        <Field key={key} name={key} />
      ))}
      <details>
        <summary>{W.settings}</summary>
        {MORE.map((key) => (
          <Field key={key} name={key} />
        ))}
      </details>
    </div>
  )
}

function Field({ name }: { name: Key }) {
  const id = useId()
  const stage = useStageActions()
  const value = useStage((view) => view.settings[view.kind][name])
  const busy = useStage((view) => view.state !== null)
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      <Help of={name} text={W.help[name]} />
      {typeof value === 'boolean' ? (
        <input id={id} type="checkbox" role="switch" data-testid={`stage-${name}`} checked={value} disabled={busy} onChange={(event) => stage.set({ [name]: event.target.checked })} />
      ) : typeof value === 'string' ? (
        <select id={id} data-testid={`stage-${name}`} value={value} disabled={busy} onChange={(event) => stage.set({ [name]: event.target.value })}>
          {(name === 'loss_type' ? STAGE_LOSSES : SCHEDULERS).map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : (
        <NumberInput id={id} name={name} value={value} disabled={busy} />
      )}
    </div>
  )
}

function NumberInput({ id, name, value, disabled }: { id: string; name: Key; value: number; disabled: boolean }) {
  const stage = useStageActions()
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? String(value)
  const read = (input: string) => (input.trim() === '' ? NaN : Number(input.replace('−', '-')))
  const ok = !Number.isNaN(read(text))
  const change = (input: string) => {
    setTyped(input)
    if (!Number.isNaN(read(input))) stage.set({ [name]: read(input) })
  }
  return (
    <>
      <input
        id={id}
        data-testid={`stage-${name}`}
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        value={text}
        disabled={disabled}
        aria-invalid={!ok}
        aria-describedby={ok ? undefined : `${id}-why`}
        onChange={(event) => change(event.target.value)}
        onBlur={() => ok && setTyped(null)}
      />
      {!ok && (
        <p className="why" id={`${id}-why`} role="alert">
          {W.refused}.
        </p>
      )}
    </>
  )
}
