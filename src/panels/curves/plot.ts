/** Where in a chart its plot lies, in pixels: what recharts draws and what lies over it must agree. */

export const PLOT = { left: 46, top: 6, right: 10, bottom: 20 } as const
/** Room at the right for the names at the lines' ends, in pixels: the longest of them, if it is not too long to leave the lines some. */
export function nameRoom(names: readonly string[]): number {
  return Math.min(120, Math.max(76, 10 + 6.4 * Math.max(0, ...names.map(({ length }) => length))))
}

/**
 * Heights of labels (0 at the bottom to 1 at the top) moved apart so that none covers another; `gap`: the least distance. They keep
 * their order, and leave the plot at neither end as long as there is room.
 */
export function spreadLabels(heights: readonly number[], gap: number): number[] {
  const order = heights.map((height, i) => ({ height, i })).sort((a, b) => a.height - b.height)
  const placed = order.map(({ height }) => Math.min(1, Math.max(0, height)))
  for (let k = 1; k < placed.length; k++) placed[k] = Math.max(placed[k] ?? 0, (placed[k - 1] ?? 0) + gap)
  // Those that were pushed out at the top press the others down again.
  for (let k = placed.length - 1, top = 1; k >= 0; k--, top = (placed[k + 1] ?? 1) - gap) placed[k] = Math.min(placed[k] ?? 0, top)
  const result = [...heights]
  order.forEach(({ i }, k) => (result[i] = placed[k] ?? 0))
  return result
}
