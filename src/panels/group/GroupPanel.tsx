/** Column 2: the episodes of one group, side by side. */

import type { Author } from '../../core/episode'
import { usePlannedStep, useReplay, useSelectedStep, useSelection, useShown, useStores } from '../../store/hooks'
import type { RunView, StepView } from '../../store/view'
import { symmetricScale } from '../../ui/colors'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { advantageBound } from '../rewards/advantage-scale'
import { ScaleBar } from '../trajectory/Legend'
import { EpisodeRow } from './EpisodeRow'
import { GroupPicker } from './GroupPicker'
import { groupOf } from './group-view'

export function GroupPanel() {
  const step = useSelectedStep()
  const index = useSelection((s) => s.episode)
  const group = step ? groupOf(step, index) : null
  return (
    <Panel
      id="group"
      number={2}
      title={S.group.title}
      lead={S.group.lead}
      aside={
        <span className="panel-aside">
          <OldStep />
          {step && group && <GroupPicker step={step} group={group.group} size={group.size} />}
        </span>
      }
    >
      {step ? <Episodes step={step} index={index} /> : <Nothing />}
    </Panel>
  )
}

function Nothing() {
  const selected = useSelection((s) => s.step)
  const planned = usePlannedStep()
  const coming = useReplay(({ state }) => state === 'coming')
  if (selected !== null) return <p className="empty">{S.group.gone(selected)}</p>
  return (
    <>
      <Episodes step={planned} index={0} />
      {!coming && <p className="note">{S.group.empty}</p>}
    </>
  )
}

/** Says so when an older step than the newest is in view. */
function OldStep() {
  const { selection } = useStores()
  const selected = useSelection((s) => s.step)
  if (selected === null) return null
  return (
    <span className="old-step">
      Step {selected}{' '}
      <button type="button" className="link" onClick={() => selection.setState({ step: null })}>
        {S.group.follow}
      </button>
    </span>
  )
}

function Episodes({ step, index }: { step: StepView; index: number }) {
  const { episodes, firstIndex } = groupOf(step, index)
  const longest = useShown(longestKept)
  const bound = advantageBound(step)
  const seed = episodes.find((e) => e !== null)?.seed
  return (
    <>
      <ol className="rows" aria-label={S.group.title}>
        {episodes.map((episode, i) => (
          <EpisodeRow key={i} episode={episode} index={firstIndex + i} place={i + 1} longest={longest} bound={bound} />
        ))}
      </ol>
      <p className="rows-foot group-foot">
        <Legend bound={bound} />
        {seed !== undefined && <span className="note">{S.group.seed(seed)}</span>}
      </p>
    </>
  )
}

/** Tokens after the prompt of the longest kept episode: against the last steps too, so that growing strips do not rescale. */
function longestKept(view: RunView): number {
  return Math.max(1, ...view.steps.flatMap((step) => step.episodes.map((e) => e.length - e.promptLength)))
}

/** What the textures mean; once there are advantages, the model's tokens have the colour of their episode's. `bound`: as the strips have it. */
function Legend({ bound }: { bound: number }) {
  const swatch = (author: Author) => (
    <span key={author}>
      <span className={`swatch run-${author}`} /> {S.authors[author]}
    </span>
  )
  return (
    <span className="legend" data-testid="group-legend">
      {bound === 0 ? (
        swatch('model')
      ) : (
        <span className="legend-advantage">
          <ScaleBar scale={symmetricScale(bound)} values={false} /> {S.authors.model}, {S.group.byAdvantage}
        </span>
      )}
      {swatch('environment')}
      {swatch('template')}
    </span>
  )
}
