/** A form for one tool, made from its JSON schema. What is refused stays in its field and says what is accepted. */

import { type FormEvent, useId, useState } from 'react'
import type { Tool, ToolCall } from '../../core/tools'
import { S } from '../../ui/strings'
import { submitOnEnter } from '../../ui/submit'
import { type Field, fieldsOf, limitsOf, readCall, type Typed } from './fields'

interface ToolFormProps {
  tool: Tool
  /** What the button says. */
  action: string
  hint?: string
  disabled: boolean
  testId: string
  onCall: (call: ToolCall) => void
}

export function ToolForm({ tool, action, hint, disabled, testId, onCall }: ToolFormProps) {
  const [typed, setTyped] = useState<Typed>({})
  const [wrong, setWrong] = useState<{ field: string | null; why: string } | null>(null)
  const fields = fieldsOf(tool)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (disabled) return
    const read = readCall(tool, typed)
    setWrong(read.ok ? null : read)
    if (read.ok) onCall(read.call)
  }
  return (
    <form className="tool-form" onSubmit={submit} data-testid={testId} noValidate>
      {fields.map((field) => (
        <FieldControl
          key={field.name}
          field={field}
          text={typed[field.name] ?? field.initial}
          why={wrong?.field === field.name ? wrong.why : null}
          onChange={(text) => {
            setTyped({ ...typed, [field.name]: text })
            if (wrong?.field === field.name || wrong?.field === null) setWrong(null)
          }}
        />
      ))}
      <button type="submit" className="button small" disabled={disabled} title={hint} aria-label={`${action}: ${tool.function.name}`}>
        {action}
      </button>
      {wrong && wrong.field === null && (
        <p className="why" role="alert">
          {wrong.why}
        </p>
      )}
    </form>
  )
}

interface FieldControlProps {
  field: Field
  text: string
  why: string | null
  onChange: (text: string) => void
}

function FieldControl({ field, text, why, onChange }: FieldControlProps) {
  const id = useId()
  const note = field.kind === 'number' ? limitsOf(field) : field.kind === 'json' ? 'JSON' : ''
  const hints = [field.description, note, field.required ? '' : S.environment.optional].filter((part) => part !== '').join(' · ')
  const common = {
    id,
    name: field.name,
    value: text,
    'aria-invalid': why !== null,
    'aria-describedby': `${id}-hint`,
  }
  return (
    <div className={why ? 'tool-field invalid' : 'tool-field'}>
      <label htmlFor={id}>{field.name}</label>
      {field.kind === 'choice' ? (
        <select {...common} onChange={(e) => onChange(e.target.value)}>
          {!field.required && <option value="">{S.environment.leftOut}</option>}
          {field.options.map((option) => (
            <option key={JSON.stringify(option)} value={JSON.stringify(option)}>
              {String(option)}
            </option>
          ))}
        </select>
      ) : field.kind === 'number' ? (
        <input
          {...common}
          inputMode={field.integer ? 'numeric' : 'decimal'}
          autoComplete="off"
          onChange={(e) => onChange(e.target.value)}
        />
      ) : (
        <textarea {...common} rows={1} spellCheck={false} onChange={(e) => onChange(e.target.value)} onKeyDown={submitOnEnter} />
      )}
      <span className="tool-hint" id={`${id}-hint`}>
        {why ? (
          <span className="why" role="alert">
            {why}
          </span>
        ) : (
          <span className="note">{hints}</span>
        )}
      </span>
    </div>
  )
}
