/** A number of a stage: its name, a '?', its control. What was typed stays; what cannot be taken says why and what it must be. */

import { useEffect, useId, useState } from 'react'
import { readNumber } from '../../core/typed-number'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'

interface NumberFieldProps {
  name: string
  help: string
  testId: string
  value: number
  disabled?: boolean
  /** What a number must be where this one is refused; null where it is taken. */
  must: (value: number) => string | null
  onChange: (value: number) => void
  /** Something stands here that was not taken, as half a sentence; returns what takes that back. */
  onRefused: (why: string) => () => void
}

/** Why a text is no such number, as half a sentence; null where it is one. */
function whyNot(name: string, text: string, must: NumberFieldProps['must']): string | null {
  const value = readNumber(text)
  const wanted = Number.isFinite(value) ? must(value) : W.number
  return wanted === null ? null : W.must(name, wanted)
}

export function NumberField({ name, help, testId, value, disabled, must, onChange, onRefused }: NumberFieldProps) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? String(value)
  const why = whyNot(name, text, must)
  useEffect(() => (why === null ? undefined : onRefused(why)), [why, onRefused])
  const change = (input: string) => {
    setTyped(input)
    if (whyNot(name, input, must) === null) onChange(readNumber(input))
  }
  return (
    <div className={why === null ? 'field' : 'field invalid'}>
      <label htmlFor={id}>{name}</label>
      <Help of={name} text={help} />
      <input
        id={id}
        data-testid={testId}
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        value={text}
        disabled={disabled}
        aria-invalid={why !== null}
        aria-describedby={why === null ? undefined : `${id}-why`}
        onChange={(event) => change(event.target.value)}
        onBlur={() => why === null && setTyped(null)}
      />
      {why !== null && (
        <p className="why" id={`${id}-why`} role="alert">
          {W.refused(why)}
        </p>
      )}
    </div>
  )
}
