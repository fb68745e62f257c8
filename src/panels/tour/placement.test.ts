import { expect, it } from 'vitest'
import { placeBeside } from './placement'

const room = { left: 0, top: 60, width: 1440, height: 800 }
const size = { width: 360, height: 200 }

it('stands bottom right, unless that is what it speaks of', () => {
  expect(placeBeside(null, size, room)).toEqual({ left: 1080, top: 660 })
  expect(placeBeside({ left: 0, top: 60, width: 284, height: 800 }, size, room)).toEqual({ left: 1080, top: 660 })
  expect(placeBeside({ left: 1100, top: 60, width: 340, height: 800 }, size, room)).toEqual({ left: 0, top: 660 })
  expect(placeBeside({ left: 284, top: 500, width: 1156, height: 360 }, size, room)).toEqual({ left: 1080, top: 60 })
})

it('covers least of what fills the window', () => {
  expect(placeBeside({ left: 284, top: 60, width: 1156, height: 800 }, size, room)).toEqual({ left: 0, top: 660 })
})
