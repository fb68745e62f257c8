/** The models in this browser's storage, each with a Delete that asks once more in its own line. */

import { type MouseEvent, useState } from 'react'
import { useModels, useSetup, useStores } from '../../store/hooks'
import { writeReference } from '../../store/model-settings'
import { withoutStored } from '../../store/model-store'
import { bytes } from '../../ui/format'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import type { StoredModel } from '../../worker/protocol'

export function StoredModels() {
  const { controller } = useStores()
  const stored = useModels((s) => s.stored)
  const sum = stored?.models.reduce((total, m) => total + m.bytes, 0) ?? 0
  return (
    <details data-testid="stored" onToggle={(e) => e.currentTarget.open && controller.model.listStored()}>
      <summary>
        {S.model.stored.title}
        {sum > 0 && <span className="note"> · {bytes(sum)}</span>}
      </summary>
      <List />
    </details>
  )
}

function List() {
  const stored = useModels((s) => s.stored)
  const persisted = useModels((s) => s.persisted)
  const words = S.model.stored
  if (!stored) return <p className="note">{words.asking}</p>
  const { models, storage } = stored
  const sum = models.reduce((total, m) => total + m.bytes, 0)
  return (
    <>
      {models.length === 0 && <p className="note">{words.none}</p>}
      <ul className="stored-list">
        {models.map((model) => (
          <Row key={model.key} model={model} />
        ))}
      </ul>
      <p className="note">
        {models.length > 1 && `${words.sum(bytes(sum))} `}
        {storage && words.total(bytes(storage.usage), bytes(storage.quota))}
        {models.length > 0 && persisted !== null && ` ${persisted ? words.persisted : words.fleeting}`}
        <Help of="model:stored" name={words.title} />
      </p>
    </>
  )
}

function Row({ model: { key, model, revision, bytes: size, complete } }: { model: StoredModel }) {
  const { controller, models } = useStores()
  const used = useSetup(({ config }) => config.model === model && config.model_revision)
  const commit = useModels(({ inspection }) => (inspection?.result?.ok && inspection.result.inspection.model === model ? inspection.result.inspection.revision : null))
  const chosen = used === revision || (used !== false && commit === revision)
  const [asking, setAsking] = useState<boolean | null>(null)
  const words = S.model.stored
  const remove = (e: MouseEvent<HTMLElement>) => {
    // The line goes away with its button.
    e.currentTarget.closest('details')?.querySelector('summary')?.focus()
    controller.model.deleteStored(key)
    models.setState((view) => withoutStored(view, { model, revision }))
  }
  const name = writeReference(model, revision.length === 40 ? revision.slice(0, 7) : revision)
  return (
    <li data-testid="stored-model">
      <span className="stored-name">{name}</span>
      <span className="note">
        {bytes(size)} · {complete ? words.complete : words.partial}
      </span>
      {asking ? (
        <span key="ask" className="stored-ask" role="group" aria-label={words.removeName(name)}>
          <span>{words.sure(bytes(size))}</span>
          <button type="button" className="button small urged" data-testid="delete-sure" onClick={remove}>
            {words.remove}
          </button>
          {/* Question and button take each other's place, and the focus goes with them. */}
          <button type="button" className="button small" data-testid="delete-keep" autoFocus onClick={() => setAsking(false)}>
            {words.keep}
          </button>
        </span>
      ) : (
        <span key="ways" className="stored-ways">
          {!chosen && (
            <button
              type="button"
              className="link"
              data-testid="use-stored"
              aria-label={words.useName(name)}
              onClick={() => controller.model.choose({ model, model_revision: revision })}
            >
              {words.use}
            </button>
          )}
          <button
            type="button"
            className="link stored-delete"
            data-testid="delete-model"
            autoFocus={asking === false}
            aria-label={words.removeName(name)}
            onClick={() => setAsking(true)}
          >
            {words.remove}
          </button>
        </span>
      )}
    </li>
  )
}
