/** Draws a part of the page over a scripted worker, for tests: what is found, pressed and typed there as by a person. */

import { act, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach, expect } from 'vitest'
import { createStores } from '../../store/create'
import type { Stores } from '../../store/hooks'
import { scriptedPort } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

/** What loads on its own takes as long as the machine does; below what a test may take. */
const PATIENCE_MS = 40_000

/** Goes on drawing until `look` finds no fault. */
export async function eventually(look: () => void): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    try {
      return look()
    } catch (error) {
      if (performance.now() > end) throw error
    }
    // What came is drawn at the end of the act.
    await act(async () => new Promise((resolve) => setTimeout(resolve, 25)))
  }
}

const mounted = new Set<() => void>()
afterEach(() => act(() => mounted.forEach((unmount) => unmount())))

/** `draw` makes what is drawn of the stores of a page with this hash. Messages show at once; it goes away when the test ends. */
export async function mount(draw: (stores: Stores) => ReactElement, hash = '') {
  const port = scriptedPort()
  const stores = createStores(port, hash, { now: () => 0, schedule: (callback) => callback() })
  const host = document.body.appendChild(document.createElement('div'))
  const root = createRoot(host)
  const unmount = () => {
    mounted.delete(unmount)
    root.unmount()
    host.remove()
  }
  mounted.add(unmount)
  await act(async () => root.render(draw(stores)))
  const say = (...messages: Message[]) => act(async () => port.say(...messages))
  const find = <T extends HTMLElement = HTMLButtonElement>(id: string) => host.querySelector<T>(`[data-testid="${id}"]`)
  const press = (target: string | HTMLElement | null | undefined) => act(async () => (typeof target === 'string' ? find(target) : target)?.click())
  const type = (target: string | HTMLElement | null, text: string) => act(async () => change(typeof target === 'string' ? find(target) : target, text))
  /** The element once it is there, for parts that load on their own. */
  const until = async <T extends HTMLElement = HTMLElement>(id: string): Promise<T> => {
    await eventually(() => expect(find(id), id).not.toBeNull())
    return find<T>(id) as T
  }
  return { port, stores, host, say, find, until, press, type, unmount: () => act(() => unmount()) }
}

/** React hears only of values that its own setter did not see: it listens to the prototype's. */
function change(control: HTMLElement | null, text: string) {
  if (!control) throw new Error('There is nothing to type into.')
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), 'value')?.set?.call(control, text)
  control.dispatchEvent(new Event(control instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }))
}
