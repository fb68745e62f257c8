/** Our safetensors reader and writer against the safetensors library. */

import { expect, it } from 'vitest'
import { readSafetensors, writeSafetensors } from '../../src/hub/safetensors'
import { referenceBytes, referenceJson } from './reference'

type Listed = Record<string, { dims: number[]; values: number[] }>
const cases = referenceJson<{ mixed: Listed; written: Listed }>('safetensors/cases.json')

it('reads float32, float16 and bfloat16 to the last bit', () => {
  const file = readSafetensors(referenceBytes('safetensors/mixed.safetensors'))
  expect(file.metadata).toEqual({ format: 'pt', note: 'é ≤' })
  expect([...file.tensors.keys()].sort()).toEqual(Object.keys(cases.mixed).sort())
  for (const [name, { dims, values }] of Object.entries(cases.mixed)) {
    expect(file.tensors.get(name)?.dims).toEqual(dims)
    expect([...(file.tensors.get(name)?.data ?? [])]).toEqual(values)
  }
})

it('writes the same bytes as the library', () => {
  const tensors = Object.entries(cases.written).map(([name, { dims, values }]) => ({ name, dims, data: Float32Array.from(values) }))
  expect(Buffer.from(writeSafetensors(tensors)).equals(referenceBytes('safetensors/written.safetensors'))).toBe(true)
})
