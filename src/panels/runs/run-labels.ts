/** What tells kept runs apart: the seed and what a person changed of the preset, and names that no two of them share. */

import type { RunConfig } from '../../core/config'
import { specName } from '../../core/environment-spec'
import { rewardNames } from '../../core/reward-funcs'
import type { RunRecord } from '../../core/run-record'
import { isSame } from '../../core/same'
import { isHubModel } from '../../env/models'
import { withModel } from '../../store/model-settings'
import { defaultConfig } from '../../store/presets'
import { ALL_SETTINGS, getSetting } from '../../store/settings'
import { moment, plain } from '../../ui/format'
import { S } from '../../ui/strings'

/** Changed settings as 'learning_rate 0.0005', without the seed: against what its environment and model start from. */
export function changedSettings(config: RunConfig): string[] {
  const base = withModel(defaultConfig(config.environment), config)
  const settings = ALL_SETTINGS.flatMap(({ key }) => {
    const value = getSetting(config, key)
    if (key === 'seed' || value === getSetting(base, key)) return []
    return [`${key} ${value === null ? 'off' : typeof value === 'number' ? plain(value) : value}`]
  })
  const targets = config.lora.target_modules.join()
  const words = S.runs.changes
  const { reward_funcs, reward_weights } = config.grpo
  return [
    // First: rewards of another scale cannot be compared.
    ...(isSame([reward_funcs, reward_weights], [base.grpo.reward_funcs, base.grpo.reward_weights]) ? [] : [words.rewards(rewardSum(config))]),
    ...settings,
    ...(targets === base.lora.target_modules.join() ? [] : [words.targets(targets)]),
    // Of a shipped model it is float32 always.
    ...(isHubModel(config.model) ? [config.precision] : []),
    ...(config.adapter === null ? [] : [words.adapter]),
    ...(config.tool_edits.length === 0 ? [] : [words.tools]),
    // A server brings prompts of its own.
    ...(config.environment.kind === 'openenv' || (config.system_prompt === base.system_prompt && config.user_prompt === base.user_prompt) ? [] : [words.prompts]),
  ]
}

/** 'lane + 0.5 × my_reward': the environment's reward under its name. */
function rewardSum({ environment, grpo: { reward_funcs, reward_weights } }: RunConfig): string {
  const names = rewardNames(reward_funcs, specName(environment))
  const terms = reward_funcs.map((func, i) => `${names[i]}${func.name === 'environment' && func.take !== 'own' ? ` (${func.take})` : ''}`)
  return terms.map((term, i) => ((reward_weights?.[i] ?? 1) === 1 ? term : `${plain(reward_weights?.[i] ?? 1)} × ${term}`)).join(' + ')
}

/** A name for each run by its id: as it is where it is the only one, else with seed and date, and at last a number. */
export function runLabels(runs: readonly Pick<RunRecord, 'id' | 'name' | 'config' | 'createdAt'>[]): ReadonlyMap<string, string> {
  const times = countOf(runs.map(({ name }) => name))
  const long = runs.map(({ name, config, createdAt }) =>
    (times.get(name) ?? 0) > 1 ? `${name} · ${S.runs.seed(config.grpo.seed)} · ${moment(createdAt)}` : name,
  )
  const same = countOf(long)
  const seen = new Map<string, number>()
  return new Map(
    runs.map(({ id }, i) => {
      const label = long[i] ?? ''
      const nth = (seen.get(label) ?? 0) + 1
      seen.set(label, nth)
      return [id, (same.get(label) ?? 0) > 1 ? `${label} (${nth})` : label]
    }),
  )
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}
