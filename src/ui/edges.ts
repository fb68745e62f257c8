/** What of the window is free: below what sticks to its top, above what sticks to its foot; and panels that scroll by themselves. */

/** Lower edge of what sticks to the top of the window. */
export const headEdge = () => document.querySelector('.head')?.getBoundingClientRect().bottom ?? 0
/** Upper edge of the line at its foot. */
export const lineEdge = () => document.querySelector('.replay')?.getBoundingClientRect().top ?? innerHeight
/** Upper edge of all that sticks to its foot: on a phone the tour and the lesson are sheets there. */
export function footEdge(): number {
  const sheets = [...document.querySelectorAll('.tour, .lesson')].map((each) => each.getBoundingClientRect())
  return Math.min(lineEdge(), ...sheets.filter(({ width, bottom }) => width >= innerWidth - 1 && bottom > innerHeight / 2).map(({ top }) => top))
}

/** A panel that scrolls by itself begins at its top; others stay as they are. */
export function toItsTop(element: Element): void {
  if (element.classList.contains('panel')) element.scrollTop = 0
}
