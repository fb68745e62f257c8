/** Keeps the run when the page is hidden or left, and asks at its start what was kept before. */

import type { Stores } from './hooks'

/** Follows the page until it is left. */
export function followLeaving({ controller, runs }: Pick<Stores, 'controller' | 'runs'>): void {
  const save = () => controller.send({ type: 'save' })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') save()
  })
  // A phone may close a page that was never hidden.
  window.addEventListener('pagehide', save)
  runs.list()
}
