/** What a person may choose besides the presets: a kind of environment, what it starts as, and the field that shapes it. */

import type { ComponentType } from 'react'
import type { EnvironmentSpec } from '../../core/environment-spec'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import { AddressField } from './AddressField'
import { ClassField, PromptsField } from './member-fields'
import { startMix } from './mix'

export interface KindFieldProps {
  /** The chosen environment where it is of this kind; null while none is. */
  spec: EnvironmentSpec | null
  /** Takes another in its place: of the same kind with all other settings as they are, of another with its starting settings. */
  choose: (spec: EnvironmentSpec) => void
  /** It shapes a part of several environments: what it says of a whole run does not hold, and `choose` is all that it does. */
  within?: true
}

export interface KindChoice {
  /** In the picker. */
  id: string
  kind: EnvironmentSpec['kind']
  label: string
  /** Chosen at once, from what was chosen before; null where the field must be filled in first. */
  start: ((before: EnvironmentSpec) => EnvironmentSpec) | null
  /** Fetched when it is wanted: see later.tsx. */
  Field: ComponentType<KindFieldProps>
}

const MixField = later(() => import('./MixField').then((part) => part.MixField))

/** In the picker's order, after the presets. */
export const KINDS: readonly KindChoice[] = [
  { id: 'own', kind: 'openenv', label: S.task.ownServer, start: null, Field: AddressField },
  { id: 'prompts', kind: 'prompts', label: S.task.ownPrompts, start: null, Field: PromptsField },
  { id: 'custom', kind: 'custom', label: S.task.ownClass, start: null, Field: ClassField },
  { id: 'several', kind: 'mix', label: S.task.several, start: startMix, Field: MixField },
]
