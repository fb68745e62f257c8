/** A dataset of prompts in place of an environment: where its rows come from, what they are, and the button that takes them. */

import type { EnvironmentSpec } from '../../core/environment-spec'
import { datasetOf } from '../../core/environment-spec'
import { MOST_REWARD_FUNCS, NEEDS_SOLUTION, rewardNames } from '../../core/reward-funcs'
import { useSetup, useStores } from '../../store/hooks'
import { PROMPT_ORIGINS, type PromptOrigin, sameDataset } from '../../store/prompts-store'
import { forPrompts, withFunction } from '../../store/reward-settings'
import { Help } from '../../ui/Help'
import { Segmented } from '../../ui/Segmented'
import { PROMPTS_STRINGS as W } from '../../ui/prompts-strings'
import '../../ui/prompts.css'
import { FoundRows } from './FoundRows'
import { HubOrigin } from './HubOrigin'
import { TextOrigin } from './TextOrigin'
import { TinyHints } from './TinyHints'
import { useColumns, usePrompts, usePromptsActions } from './usePrompts'

interface PromptsFieldProps {
  /** The chosen environment where it is one of prompts. */
  spec: EnvironmentSpec | null
  choose: (spec: EnvironmentSpec) => void
  /** It is one of several environments, or the rows that these read. */
  within?: true
}

export function PromptsField({ spec, choose, within }: PromptsFieldProps) {
  const prompts = usePromptsActions()
  const { controller } = useStores()
  const { origin, look, looking, bytes, error } = usePrompts((view) => view)
  const used = look !== null && spec !== null && sameDataset(datasetOf(spec), look.dataset)
  const change = (next: PromptOrigin) => {
    prompts.edit({ origin: next })
    if (next === 'builtin') prompts.look({ kind: 'builtin', name: 'arithmetic' })
  }
  const use = () => {
    if (!look) return
    choose({ kind: 'prompts', dataset: look.dataset })
    if (!within) controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...forPrompts(config.grpo, look.facts.columns) } }))
  }
  return (
    <div className="prompts-field" data-testid="prompts-field">
      {!within && <p className="note">{W.none}</p>}
      <div className="titled">
        <span className="note">{W.title}</span>
        <Help of={W.title} text={W.help} />
        <Segmented id="prompts-origin" label={W.title} options={PROMPT_ORIGINS} names={W.origins} value={origin} onChange={change} />
      </div>
      {origin === 'hub' && <HubOrigin />}
      {origin === 'text' && <TextOrigin />}
      {origin === 'builtin' && <p className="note">{W.builtin}</p>}
      {origin === 'builtin' && look === null && !looking && (
        <button type="button" className="button" data-testid="prompts-show" onClick={() => prompts.look({ kind: 'builtin', name: 'arithmetic' })}>
          {W.show}
        </button>
      )}
      {looking && (
        <p className="note" role="status">
          {W.reading(bytes)}{' '}
          <button type="button" className="button small" data-testid="prompts-stop" onClick={prompts.stop}>
            {W.stop}
          </button>
        </p>
      )}
      {error !== '' && (
        <p className="why" role="alert" data-testid="prompts-error">
          {error}
        </p>
      )}
      {look && <FoundRows look={look} />}
      {look && <TinyHints look={look} within={within} />}
      {look && (
        <div className="prompts-use">
          <button type="button" className={used ? 'button' : 'button primary'} data-testid="prompts-use" disabled={used} onClick={use}>
            {W.use}
          </button>
          {used && <span role="status">{W.inUse}</span>}
        </div>
      )}
      {spec !== null && !within && <Judged />}
    </div>
  )
}

/** Who judges, of the settings as they are. */
function Judged() {
  const { controller } = useStores()
  const { reward_funcs } = useSetup((s) => s.config.grpo)
  const columns = useColumns()
  const judges = reward_funcs.filter(({ name }) => name !== 'environment')
  const blind = columns === null || columns.includes('solution') ? [] : judges.filter(({ name }) => NEEDS_SOLUTION.includes(name))
  const nobody = judges.length === blind.length
  // A function of another environment's time stays with the settings, and may look at something else altogether.
  const unread = columns?.includes('solution') === true && judges.every((func) => !NEEDS_SOLUTION.includes(func.name) && !(func.name === 'custom' && func.code.includes('solution')))
  const compare = () => controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...withFunction(config.grpo, { name: 'accuracy_reward' }) } }))
  return (
    <p className={nobody || blind.length > 0 || unread ? 'why' : 'note'} data-testid="prompts-judged">
      {nobody ? W.notJudged : W.judged(rewardNames(judges, '').join(', '))} {blind.length > 0 && W.blind(rewardNames(blind, '').join(', '))}
      {unread && `${W.unread} `}
      {unread && reward_funcs.length < MOST_REWARD_FUNCS && (
        <button type="button" className="button small" data-testid="add-accuracy" onClick={compare}>
          {W.compare}
        </button>
      )}
    </p>
  )
}
