/** One setting: TRL's name, a '?', its control. A value that is refused, by itself or beside the others, says why; what was typed stays. */

import { Fragment, type KeyboardEvent, useEffect, useId, useState } from 'react'
import type { RunConfig } from '../../core/config'
import { useRun, useSetup, useStores } from '../../store/hooks'
import { type Setting, conflictOf, getSetting, readSetting, setSetting, type SettingValue, writeSetting } from '../../store/settings'
import { Help } from '../../ui/Help'
import { endWords } from './run-end'

export function SettingField({ setting }: { setting: Setting }) {
  const id = useId()
  const { controller, setup } = useStores()
  const value = useSetup((s) => getSetting(s.config, setting.key))
  // What was typed, or chosen and refused, beside these settings; null while the control shows the setting itself.
  const [typed, setTyped] = useState<{ text: string; beside: RunConfig } | null>(null)
  // A number waits to be corrected; a refused choice falls back to what holds, and is forgotten with the next change of anything.
  const text = useSetup((s) => (typed && (setting.kind === 'number' || typed.beside === s.config) ? typed.text : null))
  const why = useSetup((s) => whyNot(s.config, setting, text ?? writeSetting(value)))
  // Train goes on with the last good value, and says so.
  const refused = text !== null && why !== null
  const { key } = setting
  useEffect(() => {
    if (!refused) return
    setup.setState((s) => ({ refused: [...s.refused, key] }))
    return () => setup.setState((s) => ({ refused: s.refused.filter((each) => each !== key) }))
  }, [refused, key, setup])

  const change = (input: string) => {
    const { config } = setup.getState()
    const read = readSetting(setting, input)
    setTyped({ text: input, beside: config })
    if (read.ok && whyNot(config, setting, input) === null) controller.edit((now) => setSetting(now, setting.key, read.value))
  }
  // Only a whole number is handed to a run that goes on, not its first digit.
  const leave = () => {
    if (why === null) setTyped(null)
    controller.takeEnd()
  }
  const onKeyDown = (event: KeyboardEvent) => event.key === 'Enter' && controller.takeEnd()
  const shown = text !== null && (why !== null || isSame(setting, text, value)) ? text : writeSetting(value)
  return (
    <div className={why ? 'field invalid' : 'field'}>
      <label htmlFor={id}>{breakable(setting.key)}</label>
      <Help of={setting.key} />
      {setting.kind === 'flag' ? (
        <input id={id} type="checkbox" role="switch" data-testid={`setting-${setting.key}`} checked={value === true} onChange={(e) => change(String(e.target.checked))} />
      ) : setting.kind === 'choice' ? (
        <select id={id} data-testid={`setting-${setting.key}`} value={writeSetting(value)} onChange={(e) => change(e.target.value)}>
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
          onKeyDown={onKeyDown}
          onBlur={leave}
        />
      )}
      {why && (
        <p className="why" id={`${id}-why`} role="alert">
          {why}.
        </p>
      )}
      {setting.key === 'max_steps' && why === null && <RunEnd />}
    </div>
  )
}

/** A run that has begun may end elsewhere than its reader thinks. */
function RunEnd() {
  const words = endWords(useSetup((setup) => setup), useRun((view) => view))
  if (words === null) return null
  return (
    <p className="note run-end" role="status" data-testid="run-end">
      {words}
    </p>
  )
}

/** Why a text cannot be taken; null where it can. */
function whyNot(config: RunConfig, setting: Setting, text: string): string | null {
  const read = readSetting(setting, text)
  return read.ok ? conflictOf(setSetting(config, setting.key, read.value), setting.key) : read.why
}

function isSame(setting: Setting, text: string, value: SettingValue): boolean {
  const read = readSetting(setting, text)
  return read.ok && read.value === value
}

/** A name that may break after its underscores: the column is narrow, and half a name is none. */
function breakable(name: string) {
  return name.split(/(?<=_)/).map((part, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
