import { expect, it } from 'vitest'
import { latePart } from './late-part'

it('gives what is imported', async () => {
  expect(await latePart(() => Promise.resolve({ part: 1 }))).toEqual({ part: 1 })
})

it('says in a sentence that a part cannot be had, and asks for it again at the next call', async () => {
  let missing = true
  const load = () => (missing ? Promise.reject(new TypeError('Failed to fetch dynamically imported module: https://host.test/assets/a-1.js')) : Promise.resolve('here'))
  const refused = await latePart(load).catch((error: unknown) => error)
  expect(refused).toMatchObject({ name: 'PlaygroundError', kind: 'engine', message: 'A part of the page could not be fetched from its site.', advice: expect.stringContaining('reload the page') as string })
  missing = false
  expect(await latePart(load)).toBe('here')
})
