/** All settings: the ones that matter first in view, the rest in groups that open. */

import { LORA_TARGETS, type LoraTarget, type RunConfig } from '../../core/config'
import { useSetup, useStores } from '../../store/hooks'
import { MAIN_SETTINGS, type Setting, SETTING_GROUPS } from '../../store/settings'
import { Help } from '../../ui/Help'
import { Hideable } from '../../ui/Hideable'
import { afterFirstDraw } from '../../ui/first-draw'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import { SettingField } from './SettingField'

const DryRunButton = later(afterFirstDraw(() => import('../guard/DryRunButton').then((part) => part.DryRunButton)))
const RecipeField = later(afterFirstDraw(() => import('../guard/RecipeField').then((part) => part.RecipeField)))

// Beneath the settings, it may come when the page has drawn itself.
const RewardFunctions = later(afterFirstDraw(() => import('../rewards-bench/RewardFunctions').then((part) => part.RewardFunctions)))

const RolloutField = later(afterFirstDraw(() => import('../code/RolloutField').then((part) => part.RolloutField)))

export function Settings() {
  return (
    <div className="settings">
      <div className="settings-head">
        <h3>{S.task.settings}</h3>
        <DryRunButton />
      </div>
      <Fields settings={MAIN_SETTINGS} />
      <Hideable part="reward_funcs">
        <div className="reward-funcs-room">
          <RewardFunctions />
        </div>
      </Hideable>
      {SETTING_GROUPS.map(({ id, settings }) => (
        <Hideable key={id} part={id}>
          <details name="settings">
            <summary>{S.task.groups[id]}</summary>
            {id === 'loss' && <RecipeField />}
            <Fields settings={settings} />
            {id === 'sampling' && <RolloutField />}
            {id === 'lora' && (
              <>
                <Hideable part="target_modules">
                  <Targets />
                </Hideable>
                <Hideable part="backend">
                  <BackendField />
                </Hideable>
              </>
            )}
          </details>
        </Hideable>
      ))}
    </div>
  )
}

function Fields({ settings }: { settings: readonly Setting[] }) {
  return settings.map((setting) => (
    <Hideable key={setting.key} part={setting.key}>
      <SettingField setting={setting} />
    </Hideable>
  ))
}

function Targets() {
  const { controller } = useStores()
  const targets = useSetup((s) => s.config.lora.target_modules)
  const toggle = (target: LoraTarget) => {
    const next = LORA_TARGETS.filter((t) => (t === target ? !targets.includes(t) : targets.includes(t)))
    // An adapter on nothing cannot learn.
    if (next.length === 0) return
    controller.edit((config) => ({ ...config, lora: { ...config.lora, target_modules: next } }))
  }
  return (
    <fieldset className="targets">
      <legend>
        {S.task.targets} <Help of="target_modules" />
      </legend>
      {LORA_TARGETS.map((target) => (
        <label key={target}>
          <input type="checkbox" checked={targets.includes(target)} onChange={() => toggle(target)} />
          {target}
        </label>
      ))}
    </fieldset>
  )
}

const BACKENDS: readonly RunConfig['backend'][] = ['auto', 'webgpu', 'wasm']

function BackendField() {
  const { controller } = useStores()
  const backend = useSetup((s) => s.config.backend)
  const change = (text: string) => {
    const chosen = BACKENDS.find((b) => b === text)
    if (chosen) controller.edit((config) => ({ ...config, backend: chosen }))
  }
  return (
    <div className="field">
      <label htmlFor="backend">{S.task.backend}</label>
      <Help of="backend" />
      <select id="backend" data-testid="setting-backend" value={backend} onChange={(e) => change(e.target.value)}>
        {BACKENDS.map((b) => (
          <option key={b}>{b}</option>
        ))}
      </select>
    </div>
  )
}
