/** Ours and a peer's measurement in turns, and what they come to: medians, ranges, the ratio of each pair, how fast something grows. */

import type { BenchRow } from '../tools/bench-rows'
import { median } from './_rows'

export interface Pair {
  ours: number
  peer: number
}

/** What a ratio (or a value without a peer) should be. */
export type Goal = { least: number } | { most: number }

/** What both sides of a row are called, and in what. */
export interface PairedRow {
  row: string
  unit: string
  peer: string
  goal?: Goal
  note?: string
}

/** Pairs that do not count: they load, and compile, with which browsers go on while a program already runs. */
export const WARM_UP = 2

/** ours, peer, ours, peer, …: `count` pairs after those that warm up. Neither begins before the other has ended. `n` counts from 1 − WARM_UP. */
export async function takeTurns(
  count: number,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
  onPair: (pair: Pair, n: number) => void = () => undefined,
): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let n = 1 - WARM_UP; n <= count; n++) {
    const pair = { ours: await ours(), peer: await peer() }
    onPair(pair, n)
    if (n > 0) pairs.push(pair)
  }
  return pairs
}

/** Medians of both, and the median of the pairs' ratios, ours over the peer's, each with its range. Throws on no pairs. */
export function pairedRow({ row, unit, peer, goal, note }: PairedRow, pairs: readonly Pair[]): BenchRow {
  const ours = summary(row, pairs.map((pair) => pair.ours))
  const theirs = summary(row, pairs.map((pair) => pair.peer))
  const ratio = summary(row, pairs.map((pair) => pair.ours / pair.peer))
  return {
    bench: 'peers',
    row,
    value: ours.middle,
    unit,
    spread: ours.range,
    peer,
    peerValue: theirs.middle,
    peerSpread: theirs.range,
    ratio: ratio.middle,
    ratioSpread: ratio.range,
    samples: pairs.length,
    ...judged(ratio.middle, goal),
    ...(note === undefined ? {} : { note }),
  }
}

/** A figure without a peer beside it. */
export function ownRow({ row, unit, goal, note }: Omit<PairedRow, 'peer'>, values: readonly number[]): BenchRow {
  const { middle, range } = summary(row, values)
  const repeats = values.length > 1 ? { spread: range, samples: values.length } : {}
  return { bench: 'peers', row, value: middle, unit, ...repeats, ...judged(middle, goal), ...(note === undefined ? {} : { note }) }
}

/** A row without a figure: it says why. */
export function refusedRow(row: string, error: unknown): BenchRow {
  return { bench: 'peers', row, note: `not measured: ${(error instanceof Error ? error.message : String(error)).split('\n')[0]}` }
}

/** The goal as text, and whether `figure` is there. */
export function judged(figure: number, goal: Goal | undefined): Pick<BenchRow, 'goal' | 'met'> {
  if (goal === undefined) return {}
  return 'least' in goal ? { goal: `≥ ${goal.least}`, met: figure >= goal.least } : { goal: `≤ ${goal.most}`, met: figure <= goal.most }
}

/** p of y = c · x^p, by least squares over the logarithms: 1 is linear. Throws when there are fewer than two places. */
export function exponent(points: readonly { x: number; y: number }[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }))
  const mean = (pick: (p: { x: number; y: number }) => number): number => logs.reduce((sum, p) => sum + pick(p), 0) / logs.length
  const [mx, my] = [mean((p) => p.x), mean((p) => p.y)]
  const spread = logs.reduce((sum, { x }) => sum + (x - mx) ** 2, 0)
  if (!(spread > 0)) throw new Error(`${points.length} places on a curve have no slope.`)
  return logs.reduce((sum, { x, y }) => sum + (x - mx) * (y - my), 0) / spread
}

function summary(row: string, values: readonly number[]): { middle: number; range: [number, number] } {
  const sorted = [...values].sort((a, b) => a - b)
  const [least, most] = [sorted[0], sorted.at(-1)]
  if (least === undefined || most === undefined || !sorted.every((value) => Number.isFinite(value) && value > 0)) {
    throw new Error(`${row} was not measured: ${values.join(', ') || 'no figures'}.`)
  }
  return { middle: digits(median(sorted)), range: [digits(least), digits(most)] }
}

const digits = (value: number): number => Number(value.toPrecision(4))
