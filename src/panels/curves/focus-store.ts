/** What all curves share while they are looked at: the place under the pointer, the range, the runs that are hidden. No React. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import { readNumber } from '../../core/typed-number'

export interface CurveFocus {
  /** Place on the axis under the pointer or the keyboard; drawn in every chart. */
  hover: number | null
  /** Curve that the pointer is in: it alone shows the numbers in a box. */
  at: string | null
  /** Places that are being dragged over. */
  drag: readonly [number, number] | null
  /** Part of the axis that all charts are narrowed to; null: all of it. */
  range: readonly [number, number] | null
  /** Runs that are not drawn for now. */
  hidden: readonly string[]
}

export type CurveFocusStore = StoreApi<CurveFocus>

export function createCurveFocus(): CurveFocusStore {
  return createStore<CurveFocus>(() => ({ hover: null, at: null, drag: null, range: null, hidden: [] }))
}

/** The range of two numbers that a person wrote; empty text is the end of what there is. null where it holds nothing. */
export function readRange(from: string, to: string, full: readonly [number, number]): readonly [number, number] | null {
  const low = from.trim() === '' ? full[0] : readNumber(from)
  const high = to.trim() === '' ? full[1] : readNumber(to)
  return low < high ? [low, high] : null
}
