/** Keeps the height of a part of the page in a CSS variable, for what stands fast above or below it. */

/** A ref for the part; the variable is gone when the part is. */
export function heightAs(name: `--${string}`) {
  return (element: HTMLElement | null): (() => void) | undefined => {
    if (!element || typeof ResizeObserver === 'undefined') return undefined
    const root = document.documentElement.style
    const watch = new ResizeObserver(() => root.setProperty(name, `${element.offsetHeight}px`))
    watch.observe(element)
    return () => {
      watch.disconnect()
      root.removeProperty(name)
    }
  }
}
