/** The benchmark of this machine: begins it, shows how far it is, and its figures as tables to be copied. */

import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import type { BenchReport } from '../../core/bench-report'
import { benchOf } from '../../store/bench-store'
import { useReplay, useRun, useStores } from '../../store/hooks'
import { BENCH_STRINGS as W } from '../../ui/bench-strings'
import '../../ui/bench.css'
import { copyText } from '../../ui/clipboard'
import { DURATIONS } from '../../ui/durations'
import { focusLater } from '../../ui/focus'
import { Modal } from '../../ui/Modal'
import { benchJson, benchMarkdown, benchTables, deviceLine, versionLine } from './bench-table'

export function BenchDialog() {
  const { worker, display } = useStores()
  const bench = benchOf(worker)
  const { busy, error, report } = useStore(bench.store)
  const close = () => {
    // Nobody would see what it finds.
    bench.stop()
    display.setState({ bench: false })
    focusLater('teach')
  }
  return (
    <Modal id="bench" help="dialog:bench" title={W.title} lead={W.lead} close={W.close} onClose={close}>
      <div className="bench">
        <Begin />
        <p className="note" role="status" data-testid="bench-state">
          {busy && (busy.model ? W.measuring(busy.model, busy.done, busy.total) : W.preparing)}
        </p>
        {error && (
          <p className="why" role="alert">
            {error}
          </p>
        )}
        {report && <Report report={report} />}
      </div>
    </Modal>
  )
}

function Begin() {
  const { worker, setup, replay } = useStores()
  const bench = benchOf(worker)
  const { busy, report } = useStore(bench.store)
  const state = useRun(({ run }) => run.state)
  const replays = useReplay((replay) => replay.state !== 'off')
  const blocked = state === 'loading' || state === 'running' || state === 'pausing'
  const begin = () => {
    // What is drawn takes time from what is measured.
    replay.pause()
    bench.measure(setup.getState().config.backend)
  }
  const progress = busy && (
    <progress aria-label={W.title} max={Math.max(1, busy.total)} value={busy.total > 0 ? busy.done : undefined} />
  )
  return (
    <div className="bench-begin">
      {busy ? (
        <button type="button" className="button" data-testid="bench-stop" onClick={bench.stop}>
          {W.stop}
        </button>
      ) : (
        <button type="button" className="button primary" data-testid="bench-begin" disabled={blocked} aria-describedby="bench-why" onClick={begin}>
          {report ? W.again : W.run}
        </button>
      )}
      {progress}
      <span className="note" id="bench-why">
        {!busy && (blocked ? W.blocked : state === 'paused' ? W.paused : replays ? W.held : '')}
      </span>
    </div>
  )
}

function Report({ report }: { report: BenchReport }) {
  return (
    <div className="bench-report" data-testid="bench-report">
      <p className="bench-device">
        <strong>{deviceLine(report.device)}</strong> <span className="note">{versionLine(report.device)}</span>
      </p>
      {report.device.software && <p className="note">{W.slow}</p>}
      {benchTables(report).map(({ model, title, rows }) => (
        <div key={model} className="table-scroll" tabIndex={0} role="region" aria-label={`${W.table}: ${title}`}>
          <table className="bench-table">
            <thead>
              <tr>
                <th scope="col">{title}</th>
                <th scope="col">{W.columns.value}</th>
                <th scope="col">{W.columns.range}</th>
                <th scope="col">{W.columns.repeats}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, what, value, range, repeats }) => (
                <tr key={key}>
                  <th scope="row">{what}</th>
                  <td>{value}</td>
                  <td>{range}</td>
                  <td>{repeats}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ))}
      <Copies report={report} />
    </div>
  )
}

function Copies({ report }: { report: BenchReport }) {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), DURATIONS.copied)
    return () => clearTimeout(timer)
  }, [said])
  const copy = (write: typeof benchMarkdown) => () => {
    copyText(write(report, navigator.userAgent)).then(
      () => setSaid(W.copied),
      () => setSaid(W.copyFailed),
    )
  }
  return (
    <div className="bench-copies">
      <button type="button" className="button small" data-testid="bench-markdown" onClick={copy(benchMarkdown)}>
        {W.copyMarkdown}
      </button>
      <button type="button" className="button small" data-testid="bench-json" onClick={copy(benchJson)}>
        {W.copyJson}
      </button>
      <span role="status" className="note">
        {said}
      </span>
    </div>
  )
}
