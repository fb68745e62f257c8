/** Trajectories from a file, chosen or dropped: they are shown as a recording. */

import { type DragEvent, useEffect, useRef, useState } from 'react'
import { useRun, useRuns, useStores } from '../../store/hooks'
import { isActive } from '../../store/view'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'

/** `onShown` hears that a recording stands on the page. */
export function ImportFile({ onShown }: { onShown: () => void }) {
  const { runs } = useStores()
  const active = useRun((view) => isActive(view.run))
  const importing = useRuns((view) => view.importing)
  const problem = useRuns((view) => view.importProblem)
  const [over, setOver] = useState(false)
  const [wrong, setWrong] = useState<string | null>(null)
  const words = S.runs.import
  useShown(importing, problem, onShown)

  const take = (files: readonly File[]) => {
    const [file] = files
    if (!file) return
    const refused = active ? words.blocked : files.length > 1 ? words.many : /\.(jsonl|ndjson|json|parquet)$/i.test(file.name) ? null : words.kind(file.name)
    setWrong(refused)
    if (refused === null) runs.importFile(file.name, file)
  }
  const drop = (e: DragEvent) => {
    e.preventDefault()
    setOver(false)
    take([...e.dataTransfer.files])
  }
  const off = active || importing !== null
  const why = wrong ?? problem
  return (
    <section className="runs-section" data-testid="import">
      <div className="titled">
        <h3>{words.title}</h3>
        <Help of="runs:import" name={words.title} />
      </div>
      <p className="note">{words.lead}</p>
      <div
        className={over ? 'drop over' : 'drop'}
        data-testid="import-drop"
        onDragOver={(e) => {
          e.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <label className={off ? 'button small disabled' : 'button small'}>
          {words.choose}
          <input
            type="file"
            className="sr-only"
            accept=".jsonl,.ndjson,.json,.parquet"
            data-testid="import-file"
            disabled={off}
            aria-invalid={why !== null}
            aria-describedby={why === null ? undefined : 'import-why'}
            onChange={(e) => {
              take([...(e.target.files ?? [])])
              // The same file again is a change, too.
              e.target.value = ''
            }}
          />
        </label>
        <span className="note" role="status">
          {importing !== null ? words.reading(importing) : active ? words.blocked : words.drop}
        </span>
      </div>
      {why !== null && (
        <p className="why" id="import-why" role="alert" data-testid="import-problem">
          {why}
        </p>
      )}
    </section>
  )
}

/** Calls back once when what was being read has come onto the page. */
function useShown(importing: string | null, problem: string | null, onShown: () => void) {
  const before = useRef(importing)
  useEffect(() => {
    if (before.current !== null && importing === null && problem === null) onShown()
    before.current = importing
  }, [importing, problem, onShown])
}
