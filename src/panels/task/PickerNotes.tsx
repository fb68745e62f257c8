/** What the picker says beside a choice: that nothing is taken yet, or that a preset's settings replaced a person's. Fetched when there is something to say. */

import { useState } from 'react'
import type { RunConfig } from '../../core/config'
import { type EnvironmentSpec, specName } from '../../core/environment-spec'
import { useSetup, useStores } from '../../store/hooks'
import { keepChanges, lostChanges } from '../../store/next-environment'
import { KIND_STRINGS as W } from '../../ui/kind-strings'

/** A kind was chosen of which there is no environment yet: Train goes on with the one before. */
export function StillNote({ environment, kind }: { environment: EnvironmentSpec; kind: EnvironmentSpec['kind'] }) {
  return (
    <p className="note" role="status" data-testid="still">
      {W.still(specName(environment), kind)}
    </p>
  )
}

/** `before`: the settings when the preset was picked. Says nothing where none of them was changed. */
export function PresetTook({ before }: { before: RunConfig }) {
  const { controller } = useStores()
  const config = useSetup((s) => s.config)
  const [lost] = useState(() => lostChanges(before, config))
  const back = lost.length > 0 && lostChanges(before, config).length === 0
  if (lost.length === 0) return null
  return (
    <p className="changed" role="status" data-testid="preset-took">
      {back ? W.putBack : W.presetTook(lost)}{' '}
      {!back && (
        <button type="button" className="link" data-testid="put-back" onClick={() => controller.edit((now) => keepChanges(before, now))}>
          {W.putBackMine}
        </button>
      )}
    </p>
  )
}
