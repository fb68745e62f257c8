// @vitest-environment happy-dom
import { afterEach, expect, it, vi } from 'vitest'
import { keepFocusInView } from './keep-focus'

let resized: () => void = () => {}
let end = () => {}
afterEach(() => {
  end()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})

/** A focused button whose place can be moved; how often it was scrolled to. */
function place() {
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(callback: () => void) {
        resized = callback
      }
      observe() {}
      disconnect() {}
    },
  )
  end = keepFocusInView()
  const button = document.createElement('button')
  document.body.append(button)
  let top = 100
  const scrolled = vi.fn()
  Object.assign(button, { getBoundingClientRect: () => ({ top, bottom: top + 20 }), matches: () => true, scrollIntoView: scrolled })
  button.focus()
  window.dispatchEvent(new Event('focusin'))
  return { move: (to: number) => (top = to), scrolled }
}

it('brings back what was pushed out of view', () => {
  const { move, scrolled } = place()
  resized()
  expect(scrolled).not.toHaveBeenCalled()
  move(innerHeight + 40)
  resized()
  expect(scrolled).toHaveBeenCalledOnce()
})

it('leaves a person who scrolled away', () => {
  const { move, scrolled } = place()
  move(-500)
  window.dispatchEvent(new Event('scroll'))
  resized()
  expect(scrolled).not.toHaveBeenCalled()
})
