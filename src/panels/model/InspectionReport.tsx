/** What loading the chosen model would take: verdict, memory, device. For models of the Hub before anything is downloaded. */

import { useEffect, useRef, useState } from 'react'
import { isHubModel } from '../../env/models'
import { useModels, useSetup, useStores } from '../../store/hooks'
import { isFromHub, writeReference } from '../../store/model-settings'
import { inspectionOf, type InspectionView } from '../../store/model-store'
import type { RunConfig } from '../../core/config'
import type { Inspection } from '../../worker/protocol'
import { takeLostFocus } from '../../ui/focus'
import { S } from '../../ui/strings'
import { DeviceFacts } from './DeviceFacts'
import { MemoryBar } from './MemoryBar'
import { VerdictLine } from './VerdictLine'

export function InspectionReport() {
  const config = useSetup((s) => s.config)
  const linked = useSetup((s) => s.applied === null)
  const inspection = useModels((s) => inspectionOf(s, config))
  const { controller } = useStores()
  const fromHub = isFromHub(config)
  // A dry run asks, too: what fits anyway then needs no room here.
  const [asked, setAsked] = useState(false)
  const fits = inspection !== null && (inspection.result === null || (inspection.result.ok && inspection.result.inspection.verdict.kind === 'fits'))
  const ask = () => {
    setAsked(true)
    controller.model.inspect()
  }
  const isOffer = !inspection || (fits && !asked && !fromHub)
  const report = useRef<HTMLDivElement>(null)
  // The button that was pressed is gone; of a Hub's model the button to load it takes the keyboard.
  useEffect(() => {
    if (asked && !isOffer && !fromHub) takeLostFocus(report.current)
  }, [asked, isOffer, fromHub])
  if (isOffer) {
    return (
      <div className="inspection">
        {fromHub && <p className="note">{linked ? S.model.consent(namesOf(config)) : S.model.notLookedUp}</p>}
        <button type="button" className={fromHub ? 'button' : 'link'} data-testid="look-up" onClick={ask}>
          {fromHub ? S.model.lookUp : S.model.device.check}
        </button>
      </div>
    )
  }
  return (
    <div className="inspection" ref={report} tabIndex={-1} aria-busy={inspection.pending}>
      <Answer inspection={inspection} config={config} />
    </div>
  )
}

function namesOf({ model, model_revision, adapter }: RunConfig): string {
  const names = isHubModel(model) ? [writeReference(model, model_revision)] : []
  if (adapter?.kind === 'hub') names.push(`LoRA ${writeReference(adapter.repo, adapter.revision)}`)
  return names.join(', ')
}

function Answer({ inspection: { pending, result }, config }: { inspection: InspectionView; config: RunConfig }) {
  const { controller } = useStores()
  if (!result) {
    return (
      <p className="note" role="status">
        {pending && isFromHub(config) ? S.model.lookingUp(namesOf(config)) : null}
      </p>
    )
  }
  if (!result.ok) {
    return (
      <>
        <p className="why" role="alert" data-testid="inspection-error">
          <strong>{result.error}</strong> {S.model.lookUpAdvice(result.advice)}
        </p>
        <button type="button" className="button" data-testid="look-up" onClick={controller.model.inspect}>
          {S.model.lookUpAgain}
        </button>
      </>
    )
  }
  return <Report inspection={result.inspection} />
}

function Report({ inspection: { verdict, plan, device, backend } }: { inspection: Inspection }) {
  const onGpu = backend === 'webgpu'
  return (
    <>
      <VerdictLine verdict={verdict} gpu={onGpu ? device.gpu : null} largestBuffer={plan.largestBuffer} />
      <MemoryBar plan={plan} budget={onGpu ? device.gpuBudget : null} />
      <DeviceFacts device={device} largestBuffer={plan.largestBuffer} />
    </>
  )
}
