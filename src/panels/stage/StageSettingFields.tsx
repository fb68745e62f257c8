/** A stage's settings under TRL's names, each with its '?': of one that is trained by hand, and of one that a run plans. */

import { useId } from 'react'
import { STAGE_LOSSES, type StageKind, type StageSettings } from '../../core/stage'
import { settingMust } from '../../core/stage-limits'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { NumberField } from './NumberField'

type Key = keyof StageSettings
const SCHEDULERS = ['linear', 'cosine', 'constant'] as const
const FIRST: Readonly<Record<StageKind, readonly Key[]>> = {
  sft: ['learning_rate', 'per_device_train_batch_size', 'num_train_epochs', 'max_steps', 'assistant_only_loss'],
  dpo: ['learning_rate', 'per_device_train_batch_size', 'num_train_epochs', 'max_steps', 'beta', 'loss_type', 'label_smoothing', 'assistant_only_loss'],
}
const MORE: readonly Key[] = ['max_length', 'lr_scheduler_type', 'warmup_steps', 'weight_decay', 'max_grad_norm', 'seed']

interface StageSettingFieldsProps {
  kind: StageKind
  settings: StageSettings
  disabled?: boolean
  /** What the fields' test ids begin with. */
  prefix: string
  onChange: (change: Partial<StageSettings>) => void
  /** Something stands in a field that was not taken, as half a sentence; returns what takes that back. */
  onRefused: (why: string) => () => void
}

export function StageSettingFields(props: StageSettingFieldsProps) {
  const { kind } = props
  return (
    <div className="stage-settings" key={kind}>
      {FIRST[kind].map((key) => (
        <Field key={key} name={key} {...props} />
      ))}
      <details>
        <summary>{W.settings}</summary>
        {MORE.map((key) => (
          <Field key={key} name={key} {...props} />
        ))}
      </details>
    </div>
  )
}

function Field({ name, kind, settings, disabled, prefix, onChange, onRefused }: StageSettingFieldsProps & { name: Key }) {
  const id = useId()
  const value = settings[name]
  const testId = `${prefix}-${name}`
  if (typeof value === 'number') {
    const must = (next: number) => settingMust(kind, name, next)
    return <NumberField name={name} help={W.help[name]} testId={testId} value={value} disabled={disabled} must={must} onChange={(next) => onChange({ [name]: next })} onRefused={onRefused} />
  }
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      <Help of={name} text={W.help[name]} />
      {typeof value === 'boolean' ? (
        <input id={id} type="checkbox" role="switch" data-testid={testId} checked={value} disabled={disabled} onChange={(event) => onChange({ [name]: event.target.checked })} />
      ) : (
        <select id={id} data-testid={testId} value={value} disabled={disabled} onChange={(event) => onChange({ [name]: event.target.value })}>
          {(name === 'loss_type' ? STAGE_LOSSES : SCHEDULERS).map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </div>
  )
}
