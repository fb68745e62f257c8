/** The model: which one, how it is kept, what it would take here, its loading, token and stored files. */

import { AdapterField } from './AdapterField'
import { InspectionReport } from './InspectionReport'
import { LoadButtons } from './LoadButtons'
import { LoadProgressView } from './LoadProgressView'
import { ModelFacts } from './ModelFacts'
import { ModelPicker } from './ModelPicker'
import { PrecisionField } from './PrecisionField'
import { StoredModels } from './StoredModels'
import { TokenField } from './TokenField'

/** Everything a person can do with models; on a phone it stands in the sheet. */
export function ModelSection() {
  return (
    <section className="model" data-testid="model">
      <ModelPicker />
      <ModelFacts />
      <LoadProgressView />
      <PrecisionField />
      <AdapterField />
      <InspectionReport />
      <LoadButtons />
      <div className="model-more">
        <TokenField />
        <StoredModels />
      </div>
    </section>
  )
}

/** On a phone's card: what is chosen, and how its loading goes. */
export function ModelSummary() {
  return (
    <section className="model">
      <ModelFacts heading />
      <LoadProgressView />
    </section>
  )
}
