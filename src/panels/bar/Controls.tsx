/** Train, pause, step by a grain and reset, and the speed: of the run, or of the recorded run while that is shown. */

import { useRef } from 'react'
import { useDisplay, useReplay, useSetup, useStores } from '../../store/hooks'
import { levelOf, LIVE_SPEEDS, replayPace, SPEEDS } from '../../store/speed'
import { pressPause, pressReset, pressStep, pressTrain } from '../../store/transport'
import { Help } from '../../ui/Help'
import { SHORTCUT_KEYS } from '../../ui/shortcuts'
import { S } from '../../ui/strings'
import { useNarrow } from '../../ui/useNarrow'
import { GRAINS } from '../../worker/protocol'
import { IconPause, IconPlay, IconReset, IconStep } from './icons'
import { useKeptFocus } from './useKeptFocus'
import { useTransport } from './useTransport'

const C = S.controls

export function Controls() {
  const stores = useStores()
  const { train, pause, step, reset } = useTransport()
  const refused = useSetup((s) => s.refused.length > 0)
  const group = useRef<HTMLDivElement>(null)
  const kept = useKeptFocus(group)
  return (
    <div className="controls" role="group" aria-label={C.name} ref={group} onFocus={kept.onFocus}>
      <button type="button" className="button primary" data-testid="train" aria-describedby={refused ? 'train-refused' : undefined} title={train.hint} disabled={!train.can} onClick={() => pressTrain(stores)}>
        <IconPlay />
        {train.name}
      </button>
      <button
        type="button"
        className="button control-pause"
        data-testid="pause"
        data-plays={pause.plays}
        title={pause.hint}
        aria-keyshortcuts={SHORTCUT_KEYS['play-pause']}
        disabled={!pause.can}
        onClick={() => pressPause(stores)}
      >
        {pause.plays ? <IconPlay /> : <IconPause />}
        <span className="control-name">{pause.name}</span>
      </button>
      <div className="split">
        <button
          type="button"
          className="button"
          data-testid="step"
          title={step.hint}
          aria-keyshortcuts={`${SHORTCUT_KEYS['step-token']} ${SHORTCUT_KEYS['step-episode']} ${SHORTCUT_KEYS['step-step']}`}
          disabled={!step.can}
          onClick={() => pressStep(stores)}
        >
          <IconStep />
          {step.name}
        </button>
        <GrainChoice />
      </div>
      <button
        type="button"
        className={reset.urged ? 'button urged' : 'button'}
        data-testid="reset"
        title={reset.hint}
        aria-keyshortcuts={SHORTCUT_KEYS.reset}
        disabled={!reset.can}
        onClick={() => pressReset(stores)}
      >
        <IconReset />
        <span className="control-name">{reset.name}</span>
      </button>
      <SpeedChoice />
      <Help of="bar:run" name={C.name} />
    </div>
  )
}

function GrainChoice() {
  const { display } = useStores()
  const grain = useDisplay((d) => d.grain)
  return (
    <select
      data-testid="grain"
      aria-label={C.grain}
      title={C.grainHints[grain]}
      value={grain}
      onChange={({ target }) => display.setState({ grain: GRAINS.find((each) => each === target.value) ?? grain })}
    >
      {GRAINS.map((each) => (
        <option key={each} value={each}>
          {C.grains[each]}
        </option>
      ))}
    </select>
  )
}

/** A live run has no speed above its own. */
function SpeedChoice() {
  const { display } = useStores()
  const replay = useReplay(({ state }) => state !== 'off')
  const perSecond = useNarrow() ? C.perSecondShort : C.perSecond
  const levels: readonly number[] = replay ? SPEEDS : LIVE_SPEEDS
  const speed = useDisplay((d) => levelOf(d.speed, levels))
  const nameOf = (level: number) => (!replay && level >= 1 ? C.fullSpeed : perSecond(Math.round(replayPace(level))))
  return (
    <select
      className="speed"
      data-testid="speed"
      aria-label={C.speed}
      title={C.speedHint}
      value={speed}
      onChange={({ target }) => display.setState({ speed: Number(target.value) })}
    >
      {levels.map((level) => (
        <option key={level} value={level}>
          {nameOf(level)}
        </option>
      ))}
    </select>
  )
}
