/** Draws a part of the page over a scripted worker, for tests: what is found, pressed and typed there as by a person. */

import { act, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach } from 'vitest'
import { createStores } from '../../store/create'
import type { Stores } from '../../store/hooks'
import { scriptedPort } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

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
    for (let i = 0; i < 200 && !find(id); i++) await act(async () => new Promise((resolve) => setTimeout(resolve, 25)))
    const found = find<T>(id)
    if (!found) throw new Error(`There is no ${id}, not after five seconds.`)
    return found
  }
  return { port, stores, host, say, find, until, press, type, unmount: () => act(() => unmount()) }
}

/** React hears only of values that its own setter did not see: it listens to the prototype's. */
function change(control: HTMLElement | null, text: string) {
  if (!control) throw new Error('There is nothing to type into.')
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), 'value')?.set?.call(control, text)
  control.dispatchEvent(new Event(control instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }))
}
