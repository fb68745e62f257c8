/** How much room the runs take, and whether the browser promised to keep them. */

import { useEffect, useState } from 'react'
import { useModels, useRuns, useStores } from '../../store/hooks'
import { bytes } from '../../ui/format'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import { askToPersist, isPersisted } from '../model/persist'

export function RunsStorage() {
  const { models } = useStores()
  const storage = useRuns((view) => view.storage)
  const runs = useRuns((view) => view.runs)
  const persisted = useModels((view) => view.persisted)
  const [asked, setAsked] = useState(false)
  useEffect(() => {
    void isPersisted().then((is) => is !== null && models.setState({ persisted: is }))
  }, [models])
  if (runs === null || (runs.length === 0 && !storage)) return null
  const words = S.runs.storage
  const total = runs.reduce((sum, run) => sum + run.bytes, 0)
  const sum = bytes(total)
  const used = storage ? Math.max(storage.usage, total) : total
  const ask = () => {
    void askToPersist().then((is) => {
      setAsked(true)
      models.setState({ persisted: is })
    })
  }
  return (
    <section className="runs-section runs-storage" data-testid="runs-storage">
      <div className="titled">
        <h3>{words.title}</h3>
        <Help of="runs:storage" name={words.title} />
      </div>
      {storage && storage.quota > 0 && (
        <div className="meter" role="img" aria-label={words.bar(bytes(used), bytes(storage.quota))}>
          <span style={{ inlineSize: `${Math.min(100, (100 * used) / storage.quota).toFixed(2)}%` }} />
        </div>
      )}
      <p className="note" role="status">
        {!storage ? words.unknown(sum) : storage.usage < total ? words.lagging(bytes(storage.quota), sum) : words.used(bytes(storage.usage), bytes(storage.quota), sum)}{' '}
        {persisted === true ? words.persisted : asked ? words.refused : words.fleeting}
      </p>
      {persisted !== true && !asked && (
        <button type="button" className="button small" data-testid="ask-persist" onClick={ask}>
          {words.ask}
        </button>
      )}
    </section>
  )
}
