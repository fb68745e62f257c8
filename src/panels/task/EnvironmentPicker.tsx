/** Where episodes come from: one of our environments, or the address of an OpenEnv server. */

import { useId, useState } from 'react'
import { readAddress } from '../../store/address'
import { useRun, useSetup, useStores } from '../../store/hooks'
import { writeEnvironment } from '../../store/link'
import { Help } from '../../ui/Help'
import { S, SETTING_HELP } from '../../ui/strings'
import { PRESETS } from '../../worker/protocol'

const OWN = 'own'

export function EnvironmentPicker() {
  const id = useId()
  const { controller } = useStores()
  const environment = useSetup((s) => s.config.environment)
  const awaitsConsent = useSetup((s) => s.awaitsConsent)
  const sessions = useRun((view) => view.environment?.maxSessions ?? null)
  // "Your own server" is chosen before an address exists.
  const [typing, setTyping] = useState(false)
  const own = typing || environment.kind === 'openenv'
  const preset = environment.kind === 'builtin' ? PRESETS.find((p) => p.id === environment.name) : undefined
  const choose = (value: string) => {
    const chosen = PRESETS.find((p) => p.id === value)
    setTyping(!chosen)
    if (chosen) controller.chooseEnvironment(chosen.environment)
  }
  return (
    <div className="environment">
      <div className="field">
        <label htmlFor={id}>{S.task.environment}</label>
        <Help of={S.task.environment} text={SETTING_HELP.environment} />
        <select id={id} data-testid="preset-select" value={own ? OWN : (preset?.id ?? OWN)} onChange={(e) => choose(e.target.value)}>
          {PRESETS.map((p) => (
            <option key={p.id} value={p.id}>
              {p.id} · {p.title}
            </option>
          ))}
          <option value={OWN}>{S.task.ownServer}</option>
        </select>
      </div>
      {own ? <Address key={writeEnvironment(environment)} /> : <p className="note">{preset?.description}</p>}
      {environment.kind === 'openenv' && awaitsConsent && <p className="note">{S.task.consent(environment.url)}</p>}
      {environment.kind === 'openenv' && sessions !== null && <p className="note">{S.task.sessions(sessions)}</p>}
    </div>
  )
}

function Address() {
  const id = useId()
  const { controller } = useStores()
  const environment = useSetup((s) => s.config.environment)
  const [text, setText] = useState(environment.kind === 'openenv' ? environment.url : '')
  const [why, setWhy] = useState<string | null>(null)
  const connect = () => {
    const read = readAddress(text)
    setWhy(read.ok ? null : read.why)
    if (!read.ok) return
    const same = environment.kind === 'openenv' && environment.url === read.value
    if (same) controller.consent()
    else controller.chooseEnvironment({ kind: 'openenv', url: read.value })
  }
  return (
    <form
      className="address"
      onSubmit={(e) => {
        e.preventDefault()
        connect()
      }}
    >
      <label htmlFor={id} className="sr-only">
        {S.task.url}
      </label>
      <input
        id={id}
        data-testid="url-input"
        value={text}
        placeholder={S.task.urlHint}
        inputMode="url"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-invalid={why !== null}
        aria-describedby={why ? `${id}-why` : undefined}
        onChange={(e) => setText(e.target.value)}
      />
      <button type="submit" className="button" data-testid="connect">
        {S.task.connect}
      </button>
      {why && (
        <p className="why" id={`${id}-why`} role="alert">
          {why}.
        </p>
      )}
    </form>
  )
}
