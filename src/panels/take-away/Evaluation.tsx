/** How well a run does: success over fixed-seed episodes with its interval, measured here and kept with the run. */

import { useId, useState } from 'react'
import { wilson } from '../../core/interval'
import type { EvaluationRecord, RunRecord } from '../../core/run-record'
import { readWhole } from '../../core/typed-number'
import { useRun, useRuns, useStores, useTakeAway } from '../../store/hooks'
import { loadedId } from '../../store/runs-store'
import { isActive, isMidStep, type RunView } from '../../store/view'
import { takeLostFocus } from '../../ui/focus'
import { number, percent } from '../../ui/format'
import { Help } from '../../ui/Help'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'

const START = '64'
const MOST = 1000

export function Evaluation({ run }: { run: RunRecord }) {
  const id = useId()
  const { takeAway } = useStores()
  const words = TAKE_AWAY_STRINGS.evaluation
  const loaded = useRuns((view) => loadedId(view) === run.id)
  const unready = useRun(whyUnready)
  const { busy, error, result } = useTakeAway((view) => view.evaluation)
  const [text, setText] = useState(START)
  const [greedy, setGreedy] = useState(false)
  const [base, setBase] = useState(false)
  // Where every weight is trained there is no base beneath.
  const hasBase = run.lora !== null
  const episodes = readWhole(text)
  const ok = episodes >= 1 && episodes <= MOST
  const why = loaded ? unready : words.notLoaded
  const kept = run.evaluations
  // Until the list of runs has them, what was measured just now is shown as it came.
  const shown = loaded && kept.length === 0 ? (result?.records ?? kept) : kept
  return (
    <section className="take-section" data-testid="evaluation">
      <div className="titled">
        <h3>{words.title}</h3>
        <Help of="evaluation:episodes" name={words.title} />
      </div>
      <p className="note">{words.lead}</p>
      <form
        className="evaluate-form"
        onSubmit={(e) => {
          e.preventDefault()
          if (ok && why === null && !busy) takeAway.evaluate(episodes, { ...(base && hasBase && { base }), ...(greedy && { greedy }) })
        }}
      >
        <label htmlFor={id}>{words.episodes}</label>
        <input
          id={id}
          type="text"
          inputMode="numeric"
          data-testid="evaluate-episodes"
          value={text}
          aria-invalid={!ok}
          aria-describedby={`${id}-why`}
          onChange={(e) => setText(e.target.value)}
        />
        <label htmlFor={`${id}-how`}>{words.play}</label>
        <select id={`${id}-how`} data-testid="evaluate-how" value={greedy ? 'greedy' : 'sampled'} onChange={(e) => setGreedy(e.target.value === 'greedy')}>
          <option value="sampled">{words.plays.sampled}</option>
          <option value="greedy">{words.plays.greedy}</option>
        </select>
        {hasBase && (
          <label className="evaluate-base">
            <input type="checkbox" data-testid="evaluate-base" checked={base} onChange={(e) => setBase(e.target.checked)} />
            {words.withBase}
          </label>
        )}
        {/* Made anew at the end, so that the keyboard that was at Stop comes here. */}
        <button key={busy ? 'busy' : 'idle'} ref={error !== null || result !== null ? takeLostFocus : undefined} type="submit" className="button small" data-testid="evaluate" aria-describedby={`${id}-why`} disabled={busy || !ok || why !== null}>
          {words.run}
        </button>
        {busy && loaded && (
          <button type="button" className="button small" data-testid="evaluate-stop" ref={takeLostFocus} title={words.stopHint} onClick={takeAway.stopEvaluation}>
            {words.stop}
          </button>
        )}
        <p className={ok ? 'note' : 'why'} id={`${id}-why`}>
          {ok ? (busy ? '' : why) : words.refused}
        </p>
      </form>
      {busy && loaded && <Progress />}
      {error !== null && loaded && (
        <p className="why" role="alert" data-testid="evaluation-error">
          {error}
        </p>
      )}
      {loaded && <OtherBase run={run} disabled={busy || unready !== null} />}
      <Results records={shown} />
    </section>
  )
}

/** A run on a quantised base: whoever loads its adapter elsewhere has the base as it is on the Hub. */
function OtherBase({ run: { id, config, checkpoint }, disabled }: { run: RunRecord; disabled: boolean }) {
  const { runs } = useStores()
  const measuring = useRuns((view) => view.measuring)
  const words = TAKE_AWAY_STRINGS.evaluation
  if (config.precision === 'float32' || checkpoint === null) return null
  const to = measuring === null ? ('float32' as const) : undefined
  return (
    <p className="note" data-testid="other-base">
      {measuring === null ? words.otherBase(config.precision) : words.onBase(measuring)}{' '}
      <button type="button" className="link" data-testid="load-base" disabled={disabled} onClick={() => runs.resume(id, to)}>
        {measuring === null ? words.loadBase : words.backToBase(config.precision)}
      </button>
    </p>
  )
}

/** Why the loaded run cannot be measured now. */
function whyUnready(view: RunView): string | null {
  const words = TAKE_AWAY_STRINGS.evaluation
  if (isActive(view.run)) return words.training
  if (view.engine === null || view.run.state === 'loading' || view.run.state === 'load-paused') return words.loading
  // Between two steps a run that evaluates itself needs the model, too.
  return isMidStep(view) || view.evaluation?.step !== undefined ? words.midStep : null
}

function Progress() {
  const words = TAKE_AWAY_STRINGS.evaluation
  const evaluation = useRun((view) => view.evaluation)
  const text = evaluation ? words.progress(words.splits[evaluation.split], evaluation.done, evaluation.total) : words.starting
  return (
    <div className="take-state" data-testid="evaluation-progress">
      <progress aria-label={text} max={evaluation?.total ?? 1} value={evaluation?.done} />
      <span className="note">{text}</span>
    </div>
  )
}

function Results({ records }: { records: readonly EvaluationRecord[] }) {
  const words = TAKE_AWAY_STRINGS.evaluation
  const { columns } = words
  if (records.length === 0) return <p className="note">{words.none}</p>
  const interval = ({ solved, scorable }: EvaluationRecord) => {
    const [low, high] = wilson(solved, scorable)
    return `${percent(low).replace(' %', '')} – ${percent(high)}`
  }
  return (
    <div className="table-scroll" role="status">
      <table className="evaluations" data-testid="evaluations">
        <caption className="note">{words.caption}</caption>
        <thead>
          <tr>
            {Object.values(columns).map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {records.toReversed().map((record, i) => (
            <tr key={records.length - i}>
              <th scope="row">{record.step}</th>
              <td>{words.splits[record.split]}</td>
              <td>
                {record.solved}/{record.scorable}
              </td>
              <td>{record.scorable > 0 ? percent(record.solved / record.scorable) : number(null)}</td>
              <td>{interval(record)}</td>
              <td>{number(record.reward)}</td>
              <td>{record.precision}</td>
              <td>{[words.policies[record.policy ?? 'lora'], ...(record.greedy ? [words.plays.greedy] : [])].join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
