/** Seed, Reset, State, End, Test seeds, and what the environment is doing now. */

import { useId, useState } from 'react'
import { readWhole } from '../../core/typed-number'
import { usePlay, useSetup, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'

const E = S.environment
const MAX_SEED = 2 ** 31 - 2

/** The seed that was typed; null for what is none. */
function readSeed(text: string): number | null {
  const seed = readWhole(text)
  return seed >= 0 && seed <= MAX_SEED ? seed : null
}

export function PlayControls() {
  const id = useId()
  const { play } = useStores()
  const runSeed = useSetup((state) => state.config.grpo.seed)
  const [typed, setTyped] = useState<string | null>(null)
  const busy = usePlay((view) => view.busy)
  const playing = usePlay((view) => view.playing)
  const begun = usePlay((view) => view.begun)
  const text = typed ?? String(runSeed)
  const seed = readSeed(text)
  const idle = busy === null
  const hasState = begun?.hasState ?? false
  // Done, and its session still there.
  const over = usePlay((view) => view.latest?.done ?? false)
  return (
    <div className="play-controls">
      <div className="play-buttons">
        <label htmlFor={id}>{E.seed}</label>
        <Help of="play:seed" name={E.seed} />
        <input
          id={id}
          data-testid="play-seed"
          inputMode="numeric"
          autoComplete="off"
          value={text}
          aria-invalid={seed === null}
          aria-describedby={seed === null ? `${id}-why` : undefined}
          onChange={(e) => setTyped(e.target.value)}
        />
        <button
          type="button"
          className="button primary"
          data-testid="play-reset"
          title={E.resetHint}
          disabled={!idle || seed === null}
          onClick={() => seed !== null && play.reset(seed)}
        >
          {E.reset}
        </button>
        <button
          type="button"
          className="button"
          data-testid="play-ask-state"
          title={begun && !hasState ? E.noState : E.stateHint}
          disabled={!idle || !(playing || over) || !hasState}
          onClick={play.askState}
        >
          {E.state}
        </button>
        <button type="button" className="button" data-testid="play-end" title={E.endHint} disabled={idle && !playing} onClick={play.end}>
          {E.end}
        </button>
        <button
          type="button"
          className="button"
          data-testid="play-compare"
          title={E.compareHint}
          disabled={!idle || seed === null}
          onClick={() => seed !== null && play.compare(seed)}
        >
          {E.compare}
        </button>
      </div>
      {seed === null && (
        <p className="why" id={`${id}-why`} role="alert">
          {E.seedRefused}.
        </p>
      )}
      <Status />
      <Verdict />
    </div>
  )
}

/** What is under way or went wrong; read out as it changes. */
function Status() {
  const error = usePlay((view) => view.error)
  const text = usePlay((view) => {
    if (view.busy !== null) return E.busy[view.busy]
    if (view.begun === null || view.playing) return ''
    return view.latest?.done === false ? E.left : E.over
  })
  return (
    <div role="status" data-testid="play-status">
      {error !== null && <p className="play-failed">{error}</p>}
      {text !== '' && <p className="note">{text}</p>}
    </div>
  )
}

/** What testing the seeds showed. */
function Verdict() {
  const comparison = usePlay((view) => view.comparison)
  if (!comparison) return null
  const { verdict, seed, counts, chance, observations, stateDiffers } = comparison
  return (
    <div className={`seed-verdict seed-${verdict}`} data-testid="play-verdict" data-verdict={verdict}>
      <p>
        <strong>{E.verdicts[verdict]}</strong>: {E.verdictWhy[verdict](seed, counts, chance)}
      </p>
      {stateDiffers.length > 0 && <p className="note">{E.stateDiffers(stateDiffers)}</p>}
      <ol className="seed-texts">
        {observations.map((text, i) => (
          <li key={i}>
            <span className="note">{E.observations[i]}</span>
            <pre className="play-text" tabIndex={0}>
              {text === '' ? E.nothingSaid : text}
            </pre>
          </li>
        ))}
      </ol>
    </div>
  )
}
