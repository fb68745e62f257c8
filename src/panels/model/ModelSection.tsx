/** The model: which one, how it is kept, what it would take here, its loading, token and stored files. */

import { useState } from 'react'
import { later } from '../../ui/later'
import { AdapterField } from './AdapterField'
import { LoadButtons } from './LoadButtons'
import { ModelFacts } from './ModelFacts'
import { ModelPicker } from './ModelPicker'
import { PrecisionField } from './PrecisionField'

const InspectionReport = later(() => import('./InspectionReport').then((part) => part.InspectionReport))
const LoadProgressView = later(() => import('./LoadProgressView').then((part) => part.LoadProgressView))
const StoredModels = later(() => import('./StoredModels').then((part) => part.StoredModels))
const TokenField = later(() => import('./TokenField').then((part) => part.TokenField))

/** Everything a person can do with models; on a phone it stands in the sheet. */
export function ModelSection() {
  // Beside a name that cannot be read, what is known of the model chosen before would be read as its facts.
  const [modelRefused, setModelRefused] = useState(false)
  const [adapterRefused, setAdapterRefused] = useState(false)
  const refused = modelRefused || adapterRefused
  return (
    <section className="model" data-testid="model">
      <ModelPicker onRefused={setModelRefused} />
      {!modelRefused && <ModelFacts />}
      <LoadProgressView />
      <PrecisionField />
      <AdapterField onRefused={setAdapterRefused} />
      {!refused && (
        <>
          <InspectionReport />
          <LoadButtons />
        </>
      )}
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
