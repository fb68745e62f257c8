/** On or off: a checkbox in the role of a switch, its name beside it. */

interface SwitchProps {
  /** The test id. */
  id: string
  label: string
  on: boolean
  onChange: (on: boolean) => void
  title?: string
}

export function Switch({ id, label, on, onChange, title }: SwitchProps) {
  return (
    <label className="switch" title={title}>
      <input type="checkbox" role="switch" data-testid={id} checked={on} onChange={(e) => onChange(e.target.checked)} />
      {label}
    </label>
  )
}
