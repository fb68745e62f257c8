/** A session of the environment that a person drives: calls, what came back, the episode, the frames. */

import { useMemo } from 'react'
import { StoresProvider, usePlay, useRun, useSelectedEpisode, useSetup, useStores } from '../../store/hooks'
import { specName } from '../../core/environment-spec'
import { playedConfig, playsChanges } from '../../store/play-store'
import { S } from '../../ui/strings'
import { SceneView } from '../task/SceneView'
import { Trajectory } from '../trajectory/TrajectoryPanel'
import { useDraft } from './draft'
import { Frames } from './Frames'
import { ObservationView } from './ObservationView'
import { MemberTabs } from './MemberTabs'
import { PlayControls } from './PlayControls'
import { ToolForm } from './ToolForm'
import { TrainOnPlay } from './TrainOnPlay'

const E = S.environment

export function Playing() {
  const connected = useRun((view) => view.environment !== null)
  const other = useSetup((state) => (playedConfig(state) === state.config ? null : specName(playedConfig(state).environment)))
  const changed = useSetup(playsChanges)
  const alone = useSetup((state) => playedConfig(state).environment.kind === 'prompts')
  if (!connected) return <p className="empty">{E.notConnected}</p>
  if (alone) return <p className="empty">{E.alone}</p>
  return (
    <div className="play">
      {other !== null && <p className="changed">{E.connected(other)}</p>}
      {changed && <p className="changed">{E.withChanges}</p>}
      <MemberTabs id="play-of" />
      <PlayControls />
      <div className="play-table">
        <Calls />
        <Latest />
      </div>
      <TrainOnPlay />
      <PlayedEpisode />
      <Prompt />
      <Frames />
    </div>
  )
}

/** A form for each tool. */
function Calls() {
  const { play } = useStores()
  const draft = useDraft()
  const begun = usePlay((view) => view.begun)
  const ready = usePlay((view) => view.playing && view.busy === null)
  const tools = begun?.tools ?? draft?.tools.flatMap(({ tool }) => (tool ? [tool] : [])) ?? []
  return (
    <section className="play-calls" aria-label={E.calls}>
      <h3>{E.calls}</h3>
      {tools.map((tool) => (
        <div key={tool.function.name} className="play-tool">
          <p>
            <code>{tool.function.name}</code> <span className="note">{tool.function.description}</span>
          </p>
          <ToolForm tool={tool} action={E.step} disabled={!ready} testId={`play-tool-${tool.function.name}`} onCall={play.call} />
        </div>
      ))}
    </section>
  )
}

/** What the environment said last. */
function Latest() {
  const latest = usePlay((view) => view.latest)
  const state = usePlay((view) => view.state)
  return (
    <section className="play-latest" aria-label={E.observation}>
      <h3>
        {E.observation} <span className="note">{E.observationNote}</span>
      </h3>
      {latest ? (
        <>
          <SceneView scene={latest.scene} />
          <ObservationView observation={latest} />
        </>
      ) : (
        <p className="empty">{E.pressReset}</p>
      )}
      {state && (
        <>
          <h3>
            {E.state} <span className="note">{E.stateHint}</span>
          </h3>
          <pre className="play-text" data-testid="play-state" tabIndex={0}>
            {JSON.stringify(state, null, 2)}
          </pre>
        </>
      )}
    </section>
  )
}

/** The episode in the trajectory panel's own shape: it reads this panel's stores instead of the run's. */
function PlayedEpisode() {
  const stores = useStores()
  const { play } = stores
  const mine = useMemo(() => ({ ...stores, run: play.run, shown: play.run, selection: play.selection }), [stores, play])
  return (
    <StoresProvider stores={mine}>
      <Episode />
    </StoresProvider>
  )
}

function Episode() {
  const episode = useSelectedEpisode()
  if (!episode) return null
  const by = { summary: E.episode(episode.step, episode.seed), writer: E.writer }
  return (
    <section className="play-episode" aria-label={E.trajectory} data-testid="play-episode">
      <h3>{E.trajectory}</h3>
      <p className="note">{E.trajectoryNote}</p>
      <Trajectory key={episode.step} episode={episode} by={by} />
    </section>
  )
}

function Prompt() {
  const prompt = usePlay((view) => view.begun?.prompt ?? null)
  if (prompt === null) return null
  return (
    <details className="play-details">
      <summary>{E.prompt}</summary>
      <pre className="play-text" data-testid="play-prompt" tabIndex={0}>
        {prompt}
      </pre>
    </details>
  )
}
