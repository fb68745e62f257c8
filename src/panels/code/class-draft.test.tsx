// @vitest-environment happy-dom
/** A class that was typed is there again: after the dialog, after another environment was looked at, after a run was kept in its place. */
import { act } from 'react'
import { expect, it } from 'vitest'
import { StoresProvider, type Stores } from '../../store/hooks'
import { mount } from '../testing/mount'
import { useClassDraft } from './class-draft'

const OWN = { called: 'Own', code: 'class Own { reset() {} }' }
const OTHER = { called: 'Other', code: 'class Other { reset() {} }' }
const TYPED = 'class Typed { reset() {} }'

async function open(chosen: typeof OWN | null, within = false, before?: Stores) {
  let draft: ReturnType<typeof useClassDraft> | undefined
  function Field() {
    draft = useClassDraft(chosen, within)
    return null
  }
  const page = await mount((stores) => (
    <StoresProvider stores={before ?? stores}>
      <Field />
    </StoresProvider>
  ))
  const read = () => {
    if (!draft) throw new Error('The field was not drawn.')
    return draft
  }
  return { ...page, read, write: (code: string) => act(async () => read().write(code)) }
}

it('outlives the field, and is taken back by the next one of the same page alone', async () => {
  const page = await open(null)
  expect(page.read()).toMatchObject({ code: null, called: null })
  await page.write(TYPED)
  page.unmount()
  expect((await open(null, false, page.stores)).read()).toMatchObject({ code: TYPED, called: 'Typed' })
  expect((await open(null)).read().code).toBeNull()
})

it('gives way to another class of the settings, and is there again without one', async () => {
  const page = await open(OWN)
  await page.write(TYPED)
  expect(page.read()).toMatchObject({ code: TYPED, called: null })
  expect((await open(OTHER, false, page.stores)).read().code).toBeNull()
  expect((await open(null, false, page.stores)).read().code).toBe(TYPED)
})

it('of several classes each has its own', async () => {
  const page = await open(null, true)
  await page.write(TYPED)
  expect(page.read().code).toBe(TYPED)
  expect((await open(null, true, page.stores)).read().code).toBeNull()
})
