/** The recorded run's one line below everything: hold or play it, go to any place of any step. */

import { type KeyboardEvent, useState } from 'react'
import { useHidden, useReplay, useStores } from '../../store/hooks'
import type { ReplayView } from '../../store/replay'
import { latestStep } from '../../store/view'
import { heightAs } from '../../ui/height-as'
import { Help } from '../../ui/Help'
import { describePlace } from '../../ui/sentence'
import { S } from '../../ui/strings'
import { IconPause, IconPlay } from '../bar/icons'
import { RewardBars } from './RewardBars'

const R = S.replay
const C = S.controls.replay
const height = heightAs('--replay-height')
/** Places within a step that the handle stops at. */
const PLACES = 100

/** Nothing once a run has taken the recording's place. */
export function ReplayBar() {
  const on = useReplay(({ state }) => state === 'on')
  const hidden = useHidden('replay')
  return on && !hidden ? <Line /> : null
}

function Line() {
  const { replay } = useStores()
  const { playing, position, rewards, view } = useReplay((state) => state)
  const [atHandle, setAtHandle] = useState(false)
  const steps = rewards.length
  const sentence = sentenceOf(view, position, steps)
  const jump = (event: KeyboardEvent) => {
    const to = { PageUp: Math.floor(position) + 1, PageDown: Math.ceil(position) - 1 }[event.key]
    if (to === undefined) return
    replay.seek(to)
    event.preventDefault()
  }
  const label = playing ? C.pause : position >= steps ? C.again : C.play
  return (
    <aside ref={height} className="replay" aria-label={R.name} data-testid="replay-bar" data-playing={playing}>
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
          onFocus={() => setAtHandle(true)}
          onBlur={() => setAtHandle(false)}
        />
      </div>
      {/* The handle says its own place. */}
      <p className="sr-only" role="status">
        {playing || atHandle ? '' : sentence}
      </p>
    </aside>
  )
}

function sentenceOf(view: ReplayView['view'], position: number, steps: number): string {
  if (position >= steps) return R.ended(steps)
  return latestStep(view) ? describePlace(view) : R.beginning
}
