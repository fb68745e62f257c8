/** Which environments of a run of several a reward function judges. */

import type { RewardFunc } from '../../core/reward-funcs'
import { useSetup } from '../../store/hooks'
import { judgeable, judged, withJudged } from '../../store/reward-limits'
import { Help } from '../../ui/Help'
import { REWARD_STRINGS as W } from '../../ui/reward-strings'

export function JudgesField({ func, at, change }: { func: RewardFunc; at: number; change: (next: RewardFunc) => void }) {
  const spec = useSetup((s) => s.config.environment)
  const all = judgeable(spec)
  if (all.length === 0) return null
  const names = judged(func, all).map(({ name }) => name)
  return (
    <fieldset className="reward-judges" data-testid={`reward-judges-${at}`}>
      <legend>
        {W.judges} <Help of={W.judges} text={W.judgesHelp} />
      </legend>
      <div className="reward-params">
        {all.map(({ name, label }) => {
          const chosen = names.includes(name)
          return (
            <label key={name} className="reward-param">
              {/* The last one stays: a function that judges nothing is removed instead. */}
              <input type="checkbox" checked={chosen} disabled={chosen && names.length === 1} onChange={(e) => change(withJudged(func, name, e.target.checked, all))} />
              <span title={label === name ? undefined : name}>{label}</span>
            </label>
          )
        })}
      </div>
      {names.length === 0 && <p className="why">{W.judgesGone(func.only ?? [])}</p>}
    </fieldset>
  )
}
