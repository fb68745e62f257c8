/** Where episodes come from: one of our environments, the address of an OpenEnv server, or what a person makes of several, of rows, of code. */

import { useId, useState } from 'react'
import type { RunConfig } from '../../core/config'
import { type EnvironmentSpec, specName } from '../../core/environment-spec'
import { useSetup, useStores } from '../../store/hooks'
import { presetOfRun } from '../../store/presets'
import { Help } from '../../ui/Help'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import { PRESETS } from '../../worker/protocol'
import { KnownEnvironments } from '../catalogue/KnownEnvironments'
import { KINDS } from './kinds'
import { LinkedConsent } from './linked-consent'

const StillNote = later(() => import('./PickerNotes').then((part) => part.StillNote))
const PresetTook = later(() => import('./PickerNotes').then((part) => part.PresetTook))

export function EnvironmentPicker() {
  const id = useId()
  const { controller, setup } = useStores()
  const environment = useSetup((s) => s.config.environment)
  const awaitsConsent = useSetup((s) => s.awaitsConsent)
  const hasCode = useSetup((s) => s.config.rollout_func !== undefined)
  const asksForServer = environment.kind === 'openenv' && !hasCode
  // A kind is chosen before there is an environment of it, and stays chosen while its field shapes one.
  const [chosen, setChosen] = useState<string | null>(null)
  // The settings before the preset that was picked last.
  const [before, setBefore] = useState<{ of: string; config: RunConfig } | null>(null)
  const preset = useSetup((s) => presetOfRun(s.config))
  const kind = KINDS.find((each) => each.id === chosen) ?? KINDS.find((each) => each.kind === environment.kind)
  const spec = kind?.kind === environment.kind ? environment : null
  const nothingYet = chosen !== null && kind?.start === null && (spec === null || preset !== undefined)
  const value = chosen ?? preset?.id ?? kind?.id ?? environment.kind
  const choose = (next: EnvironmentSpec) => {
    if (next.kind === environment.kind) controller.edit((config) => ({ ...config, environment: next }))
    else controller.chooseEnvironment(next)
  }
  const pick = (name: string) => {
    const picked = PRESETS.find((each) => each.id === name)
    setChosen(picked ? null : name)
    if (picked?.stages) return controller.choosePlan(picked.id)
    const start = picked?.environment ?? KINDS.find((each) => each.id === name)?.start?.(environment)
    setBefore(picked ? { of: picked.id, config: setup.getState().config } : null)
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
      {preset && !chosen && before?.of === preset.id && <PresetTook key={JSON.stringify(before)} before={before.config} />}
      {nothingYet && <StillNote environment={environment} kind={kind.kind} />}
      {kind && <kind.Field spec={spec} choose={choose} />}
      {asksForServer && awaitsConsent && <p className="note">{S.address.consent(environment.url)}</p>}
      {!asksForServer && awaitsConsent && <LinkedConsent />}
      <KnownEnvironments />
    </div>
  )
}
