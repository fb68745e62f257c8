/** The one button that may download weights, and the way back after a loading that failed. */

import { useModels, useRun, useSetup, useStores } from '../../store/hooks'
import { isFresh } from '../../store/controller'
import { isFromHub, needsLoad, shortName } from '../../store/model-settings'
import { inspectionOf } from '../../store/model-store'
import { isBroken } from '../../store/view'
import { takeLostFocus } from '../../ui/focus'
import { bytes } from '../../ui/format'
import { S } from '../../ui/strings'
import type { Inspection } from '../../worker/protocol'
import { useKeptStep } from '../runs/kept-step'
import { askToPersist } from './persist'

export function LoadButtons() {
  const { controller, models } = useStores()
  const config = useSetup((s) => s.config)
  const waits = useSetup(needsLoad)
  const awaitsConsent = useSetup((s) => s.awaitsConsent)
  const result = useModels((s) => inspectionOf(s, config)?.result ?? null)
  const fresh = useRun(isFresh)
  const kept = useKeptStep()
  const broken = useRun((view) => isBroken(view.run))
  const inspection = result?.ok ? result.inspection : null
  const failed = broken && isFromHub(config)
  if (!inspection || !(waits || failed)) return null
  const { downloadBytes, storedBytes, verdict, device } = inspection
  const free = device.storage ? device.storage.quota - device.storage.usage : Infinity
  const load = () => {
    // Browsers ask for a person's gesture, and a worker has none.
    if (downloadBytes > 0) void askToPersist().then((persisted) => models.setState({ persisted }))
    controller.model.load()
  }
  return (
    <div className="load">
      {awaitsConsent && <p className="note">{S.model.consentServer}</p>}
      <button
        type="button"
        className={verdict.kind === 'fits' ? 'button primary wide' : 'button wide'}
        data-testid="load-model"
        ref={takeLostFocus}
        disabled={awaitsConsent}
        onClick={load}
      >
        {labelOf(inspection, shortName(config.model))}
      </button>
      {storedBytes > 0 && <p className="note">{downloadBytes > 0 ? S.model.load.partly(bytes(storedBytes)) : S.model.load.stored}</p>}
      {downloadBytes > free && <p className="note">{S.model.load.noRoom(bytes(Math.max(0, free)))}</p>}
      {!fresh && <p className="note">{S.model.endsRun(kept)}</p>}
    </div>
  )
}

/** What does not fit may be loaded all the same: the budget is a guess. */
function labelOf({ downloadBytes, verdict }: Inspection, name: string): string {
  const label = downloadBytes > 0 ? S.model.load.download(bytes(downloadBytes), name) : S.model.load.load(name)
  return verdict.kind === 'fits' ? label : S.model.load.anyway(label)
}
