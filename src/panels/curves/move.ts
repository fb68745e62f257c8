/** Where a key leads along a curve. */

/** A tenth of what there is, at least two points. */
const leap = (last: number) => Math.max(2, Math.round(last / 10))

/** The index that `key` leads to from `at`, 0 to `last`; null for a key that moves nothing. */
export function moveByKey(key: string, at: number, last: number): number | null {
  const to: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    PageUp: at + leap(last),
    PageDown: at - leap(last),
    Home: 0,
    End: last,
  }
  const wanted = to[key]
  return wanted === undefined ? null : Math.min(last, Math.max(0, wanted))
}
