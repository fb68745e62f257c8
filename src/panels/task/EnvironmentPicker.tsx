/** Where episodes come from: one of our environments, or the address of an OpenEnv server. */

import { useId, useState } from 'react'
import { useSetup, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import { PRESETS } from '../../worker/protocol'
import { KnownEnvironments } from '../catalogue/KnownEnvironments'
import { AddressField } from './AddressField'

const OWN = 'own'

export function EnvironmentPicker() {
  const id = useId()
  const { controller } = useStores()
  const environment = useSetup((s) => s.config.environment)
  const awaitsConsent = useSetup((s) => s.awaitsConsent)
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
        <Help of="environment" name={S.task.environment} />
        <select id={id} data-testid="preset-select" value={own ? OWN : (preset?.id ?? OWN)} onChange={(e) => choose(e.target.value)}>
          {PRESETS.map((p) => (
            <option key={p.id} value={p.id}>
              {p.id} · {p.title}
            </option>
          ))}
          <option value={OWN}>{S.task.ownServer}</option>
        </select>
      </div>
      {own ? <AddressField /> : <p className="note">{preset?.description}</p>}
      {environment.kind === 'openenv' && awaitsConsent && <p className="note">{S.address.consent(environment.url)}</p>}
      <KnownEnvironments />
    </div>
  )
}
