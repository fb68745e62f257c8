/** Matrices as the kernels read them: panels of four columns, cut along the depth into pieces that follow each other in memory. */

import { DEPTH_STEP, PANEL } from './kernels'

/**
 * Most of a depth in one piece. The rows that a piece is multiplied with then stay in a core's nearest cache while the matrix streams past
 * them, and arithmetic hides the reading: 8 rows run at 59 GFLOP/s in pieces of 264, at 44 over a depth of 528, at 30 over one of 1664.
 */
const PIECE_DEPTH = 424
/** Bytes of a panel for one step of the depth. */
export const PANEL_BYTES = 4 * PANEL

/** [depth, columns], and behind it in each panel room for a second matrix [extra, columns] that is multiplied with rows of its own. */
export interface Packed {
  at: number
  depth: number
  extra: number
  columns: number
  panels: number
  /** Parts of the depth and what is behind it, all alike: [pieces, panels, steps, PANEL]. What is behind it is in the last. */
  pieces: Piece[]
  /** Of a piece. */
  steps: number
}

/** All panels of a part of the depth: its first step, its steps, and those of the second matrix. */
export interface Piece {
  at: number
  first: number
  depth: number
  extra: number
}

export const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step

/** How [given, columns] with `extra` lies in the place that `allocate` gives for so many floats; `whole`: in one piece, for products of many rows. */
export function layoutOf(allocate: (floats: number) => number, given: number, columns: number, extra: number, whole: boolean): Packed {
  const depth = roundUp(given, DEPTH_STEP)
  const panels = Math.ceil(columns / PANEL)
  const at = allocate(PANEL * panels * (depth + extra))
  const count = whole ? 1 : piecesFor(depth, extra)
  const steps = (depth + extra) / count
  const pieces = Array.from({ length: count }, (_, i): Piece => {
    const behind = i === count - 1 ? extra : 0
    return { at: at + PANEL_BYTES * panels * steps * i, first: steps * i, depth: steps - behind, extra: behind }
  })
  return { at, depth, extra, columns, panels, pieces, steps }
}

/** The fewest that are short enough and alike; one where there are none. */
function piecesFor(depth: number, extra: number): number {
  const steps = (depth + extra) / DEPTH_STEP
  const least = Math.ceil((depth + extra) / PIECE_DEPTH)
  for (let pieces = least; pieces <= 2 * least; pieces++) if (steps % pieces === 0 && extra < (depth + extra) / pieces) return pieces
  return 1
}

/** Floats of a packed matrix. */
export const sizeOf = ({ depth, extra, panels }: Packed): number => PANEL * panels * (depth + extra)

/** Bytes of a panel in a piece. */
export const panelSize = ({ steps }: Packed): number => PANEL_BYTES * steps

/** Writes the matrix of `given` depths, zeros behind them and behind the last column. `to`: what lies at `w.at`. */
export function writeMatrix(to: Float32Array, w: Packed, given: number, value: (k: number, n: number) => number): void {
  const size = panelSize(w)
  for (const { at, first, depth } of w.pieces) {
    for (let panel = 0; panel < w.panels; panel++) {
      const width = Math.min(PANEL, w.columns - panel * PANEL)
      let place = (at - w.at + panel * size) / 4
      for (let k = first; k < first + depth; k++) {
        for (let c = 0; c < PANEL; c++) to[place++] = k < given && c < width ? value(k, panel * PANEL + c) : 0
      }
    }
  }
}

/** Writes columns of the second matrix, from a whole panel on. */
export function writeExtra(to: Float32Array, w: Packed, column: number, columns: number, value: (k: number, n: number) => number): void {
  const { at, depth } = w.pieces[w.pieces.length - 1] as Piece
  const size = panelSize(w)
  for (let n = 0; n < columns; n += PANEL) {
    let place = (at - w.at + ((column + n) / PANEL) * size + depth * PANEL_BYTES) / 4
    for (let k = 0; k < w.extra; k++) for (let c = 0; c < PANEL; c++) to[place++] = value(k, n + c)
  }
}
