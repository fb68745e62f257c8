/** Below the rewards: why the group has no signal and what helps, or how the advantage of the episode in view was made. */

import { type ReactNode, useId, useMemo } from 'react'
import { standardDeviation } from '../../rl'
import { useSelection, useSetup, useShown, useShownGrpo } from '../../store/hooks'
import { whySilent } from '../../store/signal'
import { isDiscarded, type StepView } from '../../store/view'
import { S } from '../../ui/strings'
import type { GroupView } from '../group/group-view'
import { explainEpisode, explainSilence, type LeftOut, remedies } from './explain'

/** Of the episode that is pointed at, if it is of this group, else of the selected one. */
export function Explained({ step, group }: { step: StepView; group: GroupView }) {
  const pointed = useSelection((s) => s.pointed ?? null)
  const selected = useSelection((s) => s.episode)
  const grpo = useShownGrpo()
  const left: LeftOut = { count: group.stats?.unscorable ?? 0, ownClass: useOwnClass() }
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
          {explainSilence(silence, grpo.beta).join(' ')} <Remedies>{remedies(silence, grpo, left)}</Remedies>
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

/** Whether a class of the person's own is played in the run that is shown, alone or beside others. */
function useOwnClass(): boolean {
  const recorded = useShown((view) => view.recorded?.environment ?? null)
  const own = useSetup((s) => (s.applied ?? s.config).environment)
  const spec = recorded ?? own
  return spec.kind === 'mix' ? spec.members.some(({ environment }) => environment.kind === 'custom') : spec.kind === 'custom'
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
