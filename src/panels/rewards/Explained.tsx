/** Below the rewards: why the group has no signal and what helps, or how the advantage of the episode in view was made. */

import { type ReactNode, useId, useMemo } from 'react'
import { standardDeviation } from '../../rl'
import { useSelection, useShownGrpo } from '../../store/hooks'
import { whySilent } from '../../store/signal'
import { isDiscarded, type StepView } from '../../store/view'
import { S } from '../../ui/strings'
import type { GroupView } from '../group/group-view'
import { explainEpisode, explainSilence, remedies } from './explain'

/** Of the episode that is pointed at, if it is of this group, else of the selected one. */
export function Explained({ step, group }: { step: StepView; group: GroupView }) {
  const pointed = useSelection((s) => s.pointed ?? null)
  const selected = useSelection((s) => s.episode)
  const grpo = useShownGrpo()
  const { stats, episodes, firstIndex } = group
  const batchStd = useMemo(() => standardDeviation(step.episodes.filter((e) => !isDiscarded(step, e.group)).map((e) => e.reward)), [step])
  const silence = stats && !stats.signal ? whySilent(episodes) : null
  const place = [pointed, selected].flatMap((index) => (index === null ? [] : [index - firstIndex])).find((i) => i >= 0 && i < episodes.length) ?? 0
  const episode = episodes[place] ?? null
  // In a group without a signal the group is what there is to explain; an episode that was left out still has a reason of its own.
  const own = silence === null || (episode !== null && episode.finished && episode.reward === null)
  return (
    <div className="explained" data-testid="explained">
      {silence && (
        <p>
          {explainSilence(silence, grpo.beta).join(' ')} <Remedies>{remedies(silence, grpo)}</Remedies>
        </p>
      )}
      {own && (
        <p>
          <strong>{S.rewards.explained(place + 1)}</strong>{' '}
          {explainEpisode(episode, { stats, scale: grpo.scale_rewards, batchStd, byFunction: grpo.multi_objective_aggregation === 'normalize_then_sum' }).map((sentence) => (
            <span key={sentence}>{sentence}</span>
          ))}
        </p>
      )}
    </div>
  )
}

/** Opens over the page, like the texts behind '?'. */
function Remedies({ children }: { children: ReactNode[] }) {
  const id = useId()
  const anchor = `--remedies${id.replace(/\W/g, '')}`
  return (
    <>
      <button type="button" className="link" data-testid="remedies" popoverTarget={id} style={{ anchorName: anchor }}>
        {S.rewards.remedies}
      </button>
      <span id={id} popover="auto" role="note" className="help-text remedies" aria-label={S.rewards.remedies} style={{ positionAnchor: anchor }}>
        {children.map((remedy, i) => (
          <span key={i}>{remedy}</span>
        ))}
      </span>
    </>
  )
}
