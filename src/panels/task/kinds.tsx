/** What a person may choose besides the presets: a kind of environment, what it starts as, and the field that shapes it. */

import type { ComponentType } from 'react'
import type { EnvironmentSpec } from '../../core/environment-spec'
import { S } from '../../ui/strings'
import { AddressField } from './AddressField'

export interface KindFieldProps {
  /** The chosen environment where it is of this kind; null while none is. */
  spec: EnvironmentSpec | null
  /** Takes another in its place: of the same kind with all other settings as they are, of another with its starting settings. */
  choose: (spec: EnvironmentSpec) => void
}

export interface KindChoice {
  /** In the picker. */
  id: string
  kind: EnvironmentSpec['kind']
  label: string
  /** Chosen at once; null where the field must be filled in first. */
  start: EnvironmentSpec | null
  /** Fetched when it is wanted: see later.tsx. */
  Field: ComponentType<KindFieldProps>
}

/** In the picker's order, after the presets. */
export const KINDS: readonly KindChoice[] = [{ id: 'own', kind: 'openenv', label: S.task.ownServer, start: null, Field: AddressField }]
