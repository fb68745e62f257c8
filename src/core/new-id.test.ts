import { expect, it } from 'vitest'
import { newId } from './new-id'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

it('makes UUIDs that differ', () => {
  const ids = Array.from({ length: 100 }, () => newId())
  expect(new Set(ids).size).toBe(100)
  expect(ids.filter((id) => !UUID.test(id))).toEqual([])
})

it('makes them where a browser keeps randomUUID for pages over https', () => {
  const insecure = { getRandomValues: crypto.getRandomValues.bind(crypto) }
  const ids = Array.from({ length: 100 }, () => newId(insecure))
  expect(new Set(ids).size).toBe(100)
  expect(ids.filter((id) => !UUID.test(id))).toEqual([])
})
