/** A recorded episode, read from the site's own file: what was said, called and rewarded, turn by turn, and the raw frames. */

import { useEffect, useState } from 'react'
import type { Observation } from '../../core/environment'
import { describeError } from '../../core/errors'
import type { ToolCall } from '../../core/tools'
import type { Entry } from '../../env/openenv/catalogue'
import { type RecordedEpisode as Episode, recordedEpisode } from '../../env/openenv/recorded-episode'
import { parseRecording, type Recording } from '../../env/openenv/recording'
import { CATALOGUE_STRINGS as C } from '../../ui/catalogue-strings'
import { duration, number } from '../../ui/format'
import { S } from '../../ui/strings'
import { SceneView } from '../task/SceneView'

type Loaded = { recording: Recording; episode: Episode } | { why: string } | null

/** The episode behind `path`, under the site's root; null while it is read. */
function useRecording(entry: Entry, path: string): Loaded {
  const [loaded, setLoaded] = useState<Loaded>(null)
  useEffect(() => {
    const leave = new AbortController()
    const load = async () => {
      const response = await fetch(path, { signal: leave.signal })
      if (!response.ok) throw new Error(`${path} answered with ${response.status}.`)
      const recording = parseRecording(await response.text())
      return { recording, episode: recordedEpisode(recording, entry) }
    }
    load().then(setLoaded, (error: unknown) => leave.signal.aborted || setLoaded({ why: describeError(error) }))
    return () => leave.abort()
  }, [entry, path])
  return loaded
}

export function RecordedEpisode({ entry, path }: { entry: Entry; path: string }) {
  const loaded = useRecording(entry, path)
  if (!loaded) return <p className="note">{C.loading}</p>
  if ('why' in loaded) {
    return (
      <p className="play-failed" role="alert">
        {C.failed(loaded.why)}
      </p>
    )
  }
  const { recording, episode } = loaded
  const { first, turns, reward } = episode
  return (
    <div className="recorded" data-testid="recorded">
      <p className="note">
        {C.recorded(recording.recorded)}. {recording.server} {recording.player}
      </p>
      <ol className="recorded-turns">
        <Turn name={C.reset} observation={first} />
        {turns.map(({ call, observation, ms }, i) => (
          <Turn key={i} name={C.turn(i + 1)} call={call} observation={observation} ms={ms} />
        ))}
      </ol>
      <p data-testid="recorded-reward">
        <strong>{C.total}</strong>: {rewardText(reward)}
      </p>
      <details>
        <summary>{C.frames(recording.frames.length)}</summary>
        <ol className="recorded-frames">
          {recording.frames.map(({ dir, ms, text }, i) => (
            <li key={i}>
              <span className="note">
                {S.environment[dir]} · {duration(ms)}
              </span>
              <pre className="play-text" tabIndex={0}>
                {text}
              </pre>
            </li>
          ))}
        </ol>
      </details>
    </div>
  )
}

const rewardText = (reward: number | null) => (reward === null ? C.noReward : C.rewardOf(number(reward)))

interface TurnProps {
  name: string
  call?: ToolCall
  observation: Observation
  ms?: number
}

/** A call and its answer; after reset, the answer alone. */
function Turn({ name, call, observation: { text, reward, done, scene }, ms }: TurnProps) {
  const facts = [...(call || reward !== null ? [rewardText(reward)] : []), ...(done ? [C.done] : []), ...(ms === undefined ? [] : [duration(ms)])]
  return (
    <li className="recorded-turn" data-testid="recorded-turn">
      <div className="recorded-head">
        <span className="note">{name}</span>
        {call && <code className="token-model">{`${call.name}(${Object.entries(call.arguments).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ')})`}</code>}
        <span className="note">{facts.join(' · ')}</span>
      </div>
      {text === '' ? (
        <p className="note">{S.environment.nothingSaid}</p>
      ) : (
        <pre className="play-text" tabIndex={0}>
          {text}
        </pre>
      )}
      <SceneView scene={scene} />
    </li>
  )
}
