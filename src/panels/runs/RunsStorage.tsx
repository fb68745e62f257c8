/** How much room the runs take, and whether the browser promised to keep them. */

import { useEffect, useState } from 'react'
import { useModels, useRuns, useStores } from '../../store/hooks'
import { bytes } from '../../ui/format'
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
  const sum = bytes(runs.reduce((total, run) => total + run.bytes, 0))
  const ask = () => {
    void askToPersist().then((is) => {
      setAsked(true)
      models.setState({ persisted: is })
    })
  }
  return (
    <section className="runs-section runs-storage" data-testid="runs-storage">
      <h3>{words.title}</h3>
      {storage && storage.quota > 0 && (
        <div className="meter" role="img" aria-label={words.bar(bytes(storage.usage), bytes(storage.quota))}>
          <span style={{ inlineSize: `${Math.min(100, (100 * storage.usage) / storage.quota).toFixed(2)}%` }} />
        </div>
      )}
      <p className="note" role="status">
        {storage ? words.used(bytes(storage.usage), bytes(storage.quota), sum) : words.unknown(sum)}{' '}
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
