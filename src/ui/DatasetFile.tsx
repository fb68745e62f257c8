/** A dataset out of a file: a place to drop it on, and a button that chooses it. One file, of the kinds that can be read. */

import { type DragEvent, type ReactNode, useState } from 'react'
import { DATASET_FILE_STRINGS as W } from './dataset-file-strings'

interface Taking {
  onFile: (file: File) => void
  /** Why nothing was taken. */
  onRefused: (why: string) => void
}

function takeFile(files: readonly File[], { onFile, onRefused }: Taking): void {
  const [first] = files
  if (!first) return
  if (files.length > 1) onRefused(W.many)
  else if (!/\.(jsonl|ndjson|json|parquet)$/i.test(first.name)) onRefused(W.wrongFile(first.name))
  else onFile(first)
}

/** Whatever stands in it takes a dropped file; `over` is added to its class meanwhile. */
export function DropsDataset({ className, children, ...taking }: Taking & { className: string; children: ReactNode }) {
  const [over, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    takeFile([...event.dataTransfer.files], taking)
  }
  return (
    <div
      className={over ? `${className} over` : className}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {children}
    </div>
  )
}

export function DatasetFileButton({ testId, ...taking }: Taking & { testId: string }) {
  return (
    <label className="button small">
      {W.file}
      <input
        type="file"
        className="sr-only"
        accept=".jsonl,.ndjson,.json,.parquet"
        data-testid={testId}
        onChange={({ target }) => {
          takeFile([...(target.files ?? [])], taking)
          // The same file again is a change, too.
          target.value = ''
        }}
      />
    </label>
  )
}
