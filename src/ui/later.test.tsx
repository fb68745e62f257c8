// @vitest-environment happy-dom
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, it } from 'vitest'
import { fetchLater, later } from './later'
import { S } from './strings'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

it('a part that could not be had says so and comes when it is asked for again', async () => {
  let tries = 0
  const Part = later<{ name: string }>(async () => {
    if (++tries === 1) throw new Error('offline')
    return ({ name }) => <b>{name}</b>
  })
  const place = document.createElement('div')
  const root = createRoot(place)
  await act(async () => root.render(<Part name="here" />))
  expect(place.textContent).toContain(S.crash.notLoaded)
  await act(async () => place.querySelector('button')?.click())
  expect(place.innerHTML).toBe('<b>here</b>')
  expect(tries).toBe(2)
  root.unmount()
})

it('a part that was fetched ahead is drawn at once', async () => {
  const Part = later(async () => () => <i>there</i>)
  await fetchLater()
  const place = document.createElement('div')
  const root = createRoot(place)
  act(() => root.render(<Part />))
  expect(place.innerHTML).toBe('<i>there</i>')
  act(() => root.unmount())
})
