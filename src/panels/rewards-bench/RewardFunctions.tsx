/** The reward functions of the run in one line of the settings, and the dialog that changes and tries them. */

import { useState } from 'react'
import { MOST_REWARD_FUNCS, NEEDS_SOLUTION, type RewardFuncName, rewardNames } from '../../core/reward-funcs'
import { useSetup, useStores } from '../../store/hooks'
import { judgeable, judged, unjudged } from '../../store/reward-limits'
import { newFunction, withFunction } from '../../store/reward-settings'
import { Help } from '../../ui/Help'
import { Modal } from '../../ui/Modal'
import { REWARD_STRINGS as W } from '../../ui/reward-strings'
import { NetworkField } from '../code/NetworkField'
import { useColumns } from '../prompts/usePrompts'
import { useEnvironmentName } from './environment-name'
import { FunctionCard } from './FunctionCard'
import { RewardBench, useTriable } from './RewardBench'
import type { TriedEpisode } from './try-rewards'

const NAMES = Object.keys(W.names) as RewardFuncName[]

export function RewardFunctions() {
  const [open, setOpen] = useState(false)
  const [kept, setKept] = useState<readonly TriedEpisode[]>([])
  const triable = useTriable()
  const { reward_funcs, reward_weights } = useSetup((s) => s.config.grpo)
  const all = judgeable(useSetup((s) => s.config.environment))
  const names = rewardNames(reward_funcs, useEnvironmentName(), all.map(({ name }) => name)).map((name, i) => {
    const own = judged(reward_funcs[i] ?? {}, all).map(({ label }) => label)
    return own.length < all.length && own.length > 0 ? W.judgesOnly(name, own) : name
  })
  return (
    <div className="field reward-funcs">
      <code>{W.key}</code>
      <Help of={W.key} text={W.help} />
      <button type="button" className="button small" data-testid="edit-rewards" aria-label={`${W.title}: ${W.edit}`} onClick={() => {
          const now = triable()
          if (now.length > 0) setKept(now)
          setOpen(true)
        }}>
        {W.edit}
      </button>
      <p className="note" data-testid="reward-names">
        {names.map((name, i) => ((reward_weights?.[i] ?? 1) === 1 ? name : `${reward_weights?.[i]} × ${name}`)).join(' + ')}
      </p>
      {open && (
        <Modal id="reward-functions" title={W.title} lead={W.lead} close={W.close} onClose={() => setOpen(false)}>
          <Editor kept={kept} />
        </Modal>
      )}
    </div>
  )
}

function Editor({ kept }: { kept: readonly TriedEpisode[] }) {
  const { controller } = useStores()
  const { reward_funcs } = useSetup((s) => s.config.grpo)
  const columns = useColumns()
  const alone = unjudged(useSetup((s) => s.config.environment), reward_funcs).map(({ label }) => label)
  // Of a dataset that was not read yet nobody knows.
  const lacks = (name: RewardFuncName) => NEEDS_SOLUTION.includes(name) && columns !== null && !columns.includes('solution')
  const full = reward_funcs.length >= MOST_REWARD_FUNCS
  const add = (name: string) => {
    const found = NAMES.find((each) => each === name)
    if (found) controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...withFunction(config.grpo, newFunction(found, config.grpo)) } }))
  }
  return (
    <div className="reward-editor">
      <ol className="reward-cards">
        {reward_funcs.map((func, i) => (
          <FunctionCard key={`${i} ${func.name}`} func={func} at={i} last={reward_funcs.length === 1} />
        ))}
      </ol>
      <label className="reward-add">
        {W.add}
        <select data-testid="add-reward" value="" disabled={full} onChange={(e) => add(e.target.value)}>
          <option value="">{full ? W.many(MOST_REWARD_FUNCS) : W.choose}</option>
          {NAMES.map((name) => (
            <option key={name} value={name} disabled={lacks(name)}>
              {lacks(name) ? `${W.names[name]} (${W.needsSolution})` : W.names[name]}
            </option>
          ))}
        </select>
      </label>
      {alone.length > 0 && (
        <p className="why" data-testid="reward-unjudged">
          {W.unjudged(alone)}
        </p>
      )}
      {reward_funcs.some(({ name }) => name === 'custom') && <NetworkField />}
      <RewardBench kept={kept} />
    </div>
  )
}
