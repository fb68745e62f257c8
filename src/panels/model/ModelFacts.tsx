/** The chosen model as plain facts, and whether it is the one that is loaded. */

import { CURATED_MODELS, isHubModel } from '../../env/models'
import { useModels, useRun, useSetup } from '../../store/hooks'
import { needsLoad, shortName, weightsKey, writeReference } from '../../store/model-settings'
import { inspectionOf } from '../../store/model-store'
import type { SetupView } from '../../store/setup-store'
import { isBroken } from '../../store/view'
import { count, parameterCount } from '../../ui/format'
import { S } from '../../ui/strings'

/** Whether the engine runs with the weights that the controls name. */
export function useLoaded(): boolean {
  const same = useSetup(hasSameWeights)
  const engine = useRun((view) => view.engine !== null && view.run.state !== 'loading' && view.run.state !== 'load-paused')
  const broken = useRun((view) => isBroken(view.run))
  return same && engine && !broken
}

function hasSameWeights({ config, applied }: SetupView): boolean {
  return applied !== null && weightsKey(applied) === weightsKey(config)
}

/** `heading` where no picker stands above it. */
export function ModelFacts({ heading = false }: { heading?: boolean }) {
  const config = useSetup((s) => s.config)
  const waits = useSetup(needsLoad)
  const lastLoaded = useModels((s) => s.lastLoaded?.model ?? null)
  const inspection = useModels((s) => inspectionOf(s, config)?.result ?? null)
  const loaded = useLoaded()
  const info = useRun((view) => view.engine?.info)
  const { model, model_revision } = config
  const onHub = isHubModel(model)
  const answer = inspection?.ok ? inspection.inspection : null
  const parameters = (loaded ? info?.parameters : answer?.parameters) ?? CURATED_MODELS.find((m) => m.model === model)?.parameters
  const facts = [
    ...(parameters === undefined ? [] : [S.model.parameters(parameters < 1e6 ? count(parameters) : parameterCount(parameters))]),
    ...(loaded && info ? [S.model.trained(info.trainable < 1e6 ? count(info.trainable) : parameterCount(info.trainable))] : []),
    ...(answer && onHub ? [S.model.revision(answer.revision.slice(0, 7))] : []),
  ]
  const card = onHub ? `https://huggingface.co/${model}/tree/${model_revision}` : `${model}/README.md`
  return (
    <div className="model-facts" data-testid="model-facts">
      {heading && <h3>{S.model.title}</h3>}
      <p className="note">
        <code>{onHub ? writeReference(model, model_revision) : shortName(model)}</code>
        {facts.map((fact) => `\u00a0· ${fact}`)}
        {'\u00a0· '}
        <a href={card} target="_blank" rel="noreferrer">
          {S.model.card}
        </a>
      </p>
      {!onHub && <p className="note">{S.model.shippedSentence}</p>}
      {waits && <p className="note changed">{S.model.waiting(lastLoaded === null ? null : shortName(lastLoaded))}</p>}
    </div>
  )
}
