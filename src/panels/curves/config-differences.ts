/** In what the settings of two runs differ, as short sentences. */

import type { RunConfig } from '../../core/config'
import { specName } from '../../core/environment-spec'
import { hostsKey, hostsOf } from '../../core/network-hosts'
import { ALL_SETTINGS, getSetting, type SettingValue } from '../../store/settings'
import { plain } from '../../ui/format'
import { S } from '../../ui/strings'

const C = S.curves.compare

/** 'learning_rate 0.001 against 0.0003': the other run's value, then that of the present one. Empty where they are the same. */
export function configDifferences(own: RunConfig, other: RunConfig): string[] {
  const settings = ALL_SETTINGS.map(({ key }) => [key, write(getSetting(other, key)), write(getSetting(own, key))] as const)
  const fields = FIELDS.map(([key, of]) => [key, of(other), of(own)] as const)
  const named = [...fields, ...settings].filter(([, theirs, ours]) => theirs !== ours).map(([key, theirs, ours]) => C.against(key, theirs, ours))
  const texts = TEXTS.filter(([, of]) => of(other) !== of(own)).map(([name]) => C.differ(name))
  return [...named, ...texts]
}

const write = (value: SettingValue) => (value === null ? C.off : typeof value === 'number' ? plain(value) : String(value))
const adapter = ({ adapter }: RunConfig) => (adapter === null ? C.fresh : adapter.kind === 'hub' ? adapter.repo : adapter.name)

/** What is short enough to be told. */
const FIELDS: readonly [name: string, of: (config: RunConfig) => string][] = [
  [C.environment, ({ environment }) => specName(environment)],
  ['model', ({ model }) => model],
  ['model_revision', ({ model_revision }) => model_revision],
  ['precision', ({ precision }) => precision],
  ['enable_thinking', ({ enable_thinking }) => String(enable_thinking)],
  ['target_modules', ({ lora }) => lora.target_modules.join(' ')],
  [C.adapter, adapter],
  ['network_hosts', (config) => hostsKey(hostsOf(config)) || C.off],
]

/** What is not. */
const TEXTS: readonly [name: string, of: (config: RunConfig) => string][] = [
  [C.rewardFunctions, ({ grpo }) => JSON.stringify([grpo.reward_funcs, grpo.reward_weights])],
  [C.tools, ({ tool_edits }) => JSON.stringify(tool_edits)],
  [C.prompts, ({ system_prompt, user_prompt }) => JSON.stringify([system_prompt, user_prompt])],
]
