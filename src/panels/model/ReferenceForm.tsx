/** One line for a repository on the Hub with its button; what cannot be read is answered with a sentence. */

import { useEffect, useId, useState } from 'react'
import { readReference } from '../../store/reference'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'

interface ReferenceFormProps {
  label: string
  initial: string
  button: string
  testId: string
  onUse: (repo: string, revision: string) => void
  /** Whether the field holds what cannot be read; must stay the same function. */
  onRefused: (refused: boolean) => void
}

export function ReferenceForm({ label, initial, button, testId, onUse, onRefused }: ReferenceFormProps) {
  const id = useId()
  const [text, setText] = useState(initial)
  const [why, setWhy] = useState<string | null>(null)
  const refused = why !== null
  useEffect(() => {
    onRefused(refused)
    return () => onRefused(false)
  }, [onRefused, refused])
  const change = (typed: string) => {
    setText(typed)
    if (typed === initial) setWhy(null)
  }
  const use = () => {
    const read = readReference(text)
    setWhy(read.ok ? null : read.why)
    if (read.ok) onUse(read.value.repo, read.value.revision)
  }
  return (
    <form
      className="line-form"
      onSubmit={(e) => {
        e.preventDefault()
        use()
      }}
    >
      <span className="titled">
        <label htmlFor={id} className="sr-only">
          {label}
        </label>
        <Help of="model:reference" name={label} />
      </span>
      <input
        id={id}
        data-testid={testId}
        value={text}
        placeholder={S.model.referenceHint}
        title={S.model.referenceForms}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-invalid={refused}
        aria-describedby={why ? `${id}-why` : undefined}
        onChange={(e) => change(e.target.value)}
      />
      <button type="submit" className="button" data-testid={`${testId}-use`}>
        {button}
      </button>
      {why && (
        <p className="why" id={`${id}-why`} role="alert">
          {why}.
        </p>
      )}
    </form>
  )
}
