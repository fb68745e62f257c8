/** Where episodes come from: one of our environments, the address of an OpenEnv server, or what a person makes of several, of rows, of code. */

import { useId, useState } from 'react'
import { type EnvironmentSpec, specName } from '../../core/environment-spec'
import { useSetup, useStores } from '../../store/hooks'
import { presetOf } from '../../store/presets'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import { PRESETS } from '../../worker/protocol'
import { KnownEnvironments } from '../catalogue/KnownEnvironments'
import { KINDS } from './kinds'
import { LinkedConsent } from './linked-consent'

export function EnvironmentPicker() {
  const id = useId()
  const { controller } = useStores()
  const environment = useSetup((s) => s.config.environment)
  const awaitsConsent = useSetup((s) => s.awaitsConsent)
  const hasCode = useSetup((s) => s.config.rollout_func !== undefined)
  const asksForServer = environment.kind === 'openenv' && !hasCode
  // A kind is chosen before there is an environment of it, and stays chosen while its field shapes one.
  const [chosen, setChosen] = useState<string | null>(null)
  const preset = presetOf(environment)
  const kind = KINDS.find((each) => each.id === chosen) ?? KINDS.find((each) => each.kind === environment.kind)
  const spec = kind?.kind === environment.kind ? environment : null
  const value = chosen ?? preset?.id ?? kind?.id ?? environment.kind
  const choose = (next: EnvironmentSpec) => {
    if (next.kind === environment.kind) controller.edit((config) => ({ ...config, environment: next }))
    else controller.chooseEnvironment(next)
  }
  const pick = (name: string) => {
    const picked = PRESETS.find((each) => each.id === name)
    setChosen(picked ? null : name)
    const start = picked?.environment ?? KINDS.find((each) => each.id === name)?.start?.(environment)
    if (start) controller.chooseEnvironment(start)
  }
  return (
    <div className="environment">
      <div className="field">
        <label htmlFor={id}>{S.task.environment}</label>
        <Help of="environment" name={S.task.environment} />
        <select id={id} data-testid="preset-select" value={value} onChange={(e) => pick(e.target.value)}>
          {PRESETS.map((each) => (
            <option key={each.id} value={each.id}>
              {each.id} · {each.title}
            </option>
          ))}
          {KINDS.map((each) => (
            <option key={each.id} value={each.id}>
              {each.label}
            </option>
          ))}
          {!preset && !kind && <option value={environment.kind}>{specName(environment)}</option>}
        </select>
      </div>
      {preset && !chosen && <p className="note">{preset.description}</p>}
      {kind && <kind.Field spec={spec} choose={choose} />}
      {asksForServer && awaitsConsent && <p className="note">{S.address.consent(environment.url)}</p>}
      {!asksForServer && awaitsConsent && <LinkedConsent />}
      <KnownEnvironments />
    </div>
  )
}
