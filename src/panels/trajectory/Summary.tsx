/** Which episode this is, how it stands, and how it ended. */

import { useSelectedStep } from '../../store/hooks'
import type { EpisodeView } from '../../store/view'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import { groupOf } from '../group/group-view'
import { exitWords, outcomeOf } from '../group/outcome'
import { heatText } from './heat'

/** `of`: which one it is, where it is no episode of a step. */
export function Summary({ episode, of }: { episode: EpisodeView; of: string | undefined }) {
  const step = useSelectedStep()
  const outcome = outcomeOf(episode)
  const group = step ? groupOf(step, episode.index) : null
  const place = group ? episode.index - group.firstIndex + 1 : episode.index + 1
  return (
    <p className="trajectory-summary">
      {of ?? S.trajectory.step(episode.step)}
      {of === undefined && step && step.groupCount > 1 && group && ` · ${S.trajectory.group(group.group + 1)}`}
      {of === undefined && ` · ${S.group.episode(place).toLowerCase()}`}
      {episode.environment !== undefined && ` · ${episode.environment}`} ·{' '}
      <span className={`outcome ${outcome.kind}`}>
        <span className="mark" aria-hidden="true">
          {outcome.mark}
        </span>{' '}
        {of !== undefined && outcome.kind === 'writing' ? S.environment.yourTurn : outcome.word}
      </span>
      {episode.error !== null && ` · ${outcome.why}`}
    </p>
  )
}

/** Below the last turn: why there is no other one, and what came of it. */
export function TrajectoryEnd({ episode }: { episode: EpisodeView }) {
  if (!episode.finished || episode.exit === null) return null
  const { reward, advantage } = episode
  return (
    <p className="trajectory-end" data-testid="trajectory-end">
      {S.trajectory.ended(exitWords(episode))}
      {reward !== null && ` ${S.rewards.reward} ${number(reward)}`}
      {reward !== null && advantage !== null && ` · ${S.rewards.advantage} ${heatText('advantage', advantage)}`}
    </p>
  )
}
