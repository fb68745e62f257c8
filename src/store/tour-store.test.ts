// @vitest-environment happy-dom
import { beforeEach, expect, it } from 'vitest'
import { createTour } from './tour-store'

beforeEach(() => localStorage.clear())

it('is offered until it is taken or refused for ever, and goes on where it was left', () => {
  const tour = createTour()
  expect(tour.store.getState()).toEqual({ open: false, at: 0, offer: 'new' })
  tour.notNow()
  expect(tour.store.getState().offer).toBe('later')
  expect(createTour().store.getState().offer).toBe('new')
  tour.start()
  tour.goTo(2)
  tour.close()
  expect(createTour().store.getState()).toEqual({ open: false, at: 2, offer: 'taken' })
  tour.never()
  expect(createTour().store.getState().offer).toBe('never')
  tour.start()
  tour.finish()
  expect(createTour().store.getState()).toEqual({ open: false, at: 0, offer: 'never' })
})

it('what is kept in another shape counts for nothing', () => {
  for (const text of ['{', '{"at":-1,"offer":"new"}', '[]', '{"at":1,"offer":"perhaps"}']) {
    localStorage.setItem('grpo-playground.tour', text)
    expect(createTour().store.getState()).toEqual({ open: false, at: 0, offer: 'new' })
  }
})
