/** One choice of a few, side by side: radio buttons that look like one control. */

import { useId } from 'react'

interface SegmentedProps<T extends string> {
  /** The test id. */
  id: string
  /** What is chosen, for those who do not see it. */
  label: string
  options: readonly T[]
  names: Readonly<Record<T, string>>
  value: T
  onChange: (value: T) => void
  /** What a person reads when the pointer rests on an option. */
  hints?: Readonly<Partial<Record<T, string>>>
}

export function Segmented<T extends string>({ id, label, options, names, value, onChange, hints }: SegmentedProps<T>) {
  const group = useId()
  return (
    <fieldset className="segmented" data-testid={id}>
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label key={option} className={option === value ? 'chosen' : ''} title={hints?.[option]}>
          <input type="radio" name={group} value={option} className="sr-only" checked={option === value} onChange={() => onChange(option)} />
          {names[option]}
        </label>
      ))}
    </fieldset>
  )
}
