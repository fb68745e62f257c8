/** One setting: TRL's name, a '?', its control. A value that is refused stays in the control and says what is accepted. */

import { useId, useState } from 'react'
import { useSetup, useStores } from '../../store/hooks'
import { type Setting, getSetting, readSetting, setSetting, writeSetting } from '../../store/settings'
import { Help } from '../../ui/Help'

export function SettingField({ setting }: { setting: Setting }) {
  const id = useId()
  const { controller } = useStores()
  const value = useSetup((s) => getSetting(s.config, setting.key))
  const text = writeSetting(value)
  // What was typed and refused; null while the control shows the setting itself.
  const [typed, setTyped] = useState<{ text: string; why: string | null } | null>(null)

  const change = (input: string) => {
    const read = readSetting(setting, input)
    setTyped({ text: input, why: read.ok ? null : read.why })
    if (read.ok) controller.edit((config) => setSetting(config, setting.key, read.value))
  }
  const shown = typed?.text ?? text
  const why = typed?.why ?? null
  return (
    <div className={why ? 'field invalid' : 'field'}>
      <label htmlFor={id}>{setting.key}</label>
      <Help of={setting.key} />
      {setting.kind === 'flag' ? (
        <input id={id} type="checkbox" role="switch" data-testid={`setting-${setting.key}`} checked={value === true} onChange={(e) => change(String(e.target.checked))} />
      ) : setting.kind === 'choice' ? (
        <select id={id} data-testid={`setting-${setting.key}`} value={text} onChange={(e) => change(e.target.value)}>
          {setting.options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          data-testid={`setting-${setting.key}`}
          inputMode={setting.integer ? 'numeric' : 'decimal'}
          autoComplete="off"
          spellCheck={false}
          value={shown}
          aria-invalid={why !== null}
          aria-describedby={why ? `${id}-why` : undefined}
          onChange={(e) => change(e.target.value)}
          onBlur={() => why === null && setTyped(null)}
        />
      )}
      {why && (
        <p className="why" id={`${id}-why`} role="alert">
          {why}.
        </p>
      )}
    </div>
  )
}
