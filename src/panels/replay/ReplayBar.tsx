/** The recorded run's one line below everything: hold or play it, go to any place of any step, its speed. */

import type { KeyboardEvent } from 'react'
import { useReplay, useStores } from '../../store/hooks'
import { REPLAY_SPEEDS, type ReplayView } from '../../store/replay'
import { latestStep } from '../../store/view'
import { Help } from '../../ui/Help'
import { describeRun } from '../../ui/sentence'
import { S } from '../../ui/strings'
import { IconPause, IconPlay } from '../bar/icons'
import { RewardBars } from './RewardBars'

const R = S.replay
/** Places within a step that the handle stops at. */
const PLACES = 100

/** Nothing once a run has taken the recording's place. */
export function ReplayBar() {
  const on = useReplay(({ state }) => state === 'on')
  return on ? <Line /> : null
}

function Line() {
  const { replay } = useStores()
  const { playing, speed, position, rewards, view } = useReplay((state) => state)
  const steps = rewards.length
  const sentence = sentenceOf(view, position, steps)
  const jump = (event: KeyboardEvent) => {
    const to = { PageUp: Math.floor(position) + 1, PageDown: Math.ceil(position) - 1 }[event.key]
    if (to === undefined) return
    replay.seek(to)
    event.preventDefault()
  }
  const label = playing ? R.pause : position >= steps ? R.again : R.play
  return (
    <aside className="replay" aria-label={R.name} data-testid="replay-bar" data-playing={playing}>
      <button type="button" className="button quiet" data-testid="replay-play" aria-label={label} title={label} onClick={playing ? replay.pause : replay.play}>
        {playing ? <IconPause /> : <IconPlay />}
      </button>
      <p className="replay-says">
        <strong>{R.name}</strong> <Help of="replay:recording" name={R.name} /> <span title={sentence}>{sentence}</span>
      </p>
      <div className="replay-track">
        <RewardBars rewards={rewards} done={Math.floor(position)} />
        <input
          type="range"
          data-testid="replay-scrub"
          aria-label={R.scrub}
          aria-valuetext={R.place(sentence, steps)}
          min={0}
          max={steps * PLACES}
          step={PLACES / 10}
          value={Math.round(position * PLACES)}
          onChange={(event) => replay.seek(Number(event.target.value) / PLACES)}
          onKeyDown={jump}
        />
      </div>
      <select
        aria-label={R.speed}
        title={R.speed}
        data-testid="replay-speed"
        value={speed}
        onChange={(event) => replay.setSpeed(REPLAY_SPEEDS.find((each) => String(each) === event.target.value) ?? speed)}
      >
        {REPLAY_SPEEDS.map((each) => (
          <option key={each} value={each}>
            {R.times(each)}
          </option>
        ))}
      </select>
    </aside>
  )
}

function sentenceOf(view: ReplayView['view'], position: number, steps: number): string {
  if (position >= steps) return R.ended(steps)
  // By no clock: what an environment took stands in the record, not in the playing.
  return latestStep(view) ? describeRun(view, 0) : R.beginning
}
