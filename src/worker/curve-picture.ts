/** The reward of a run as a picture for its card: the mean of every step in a band from the least to the most, with axes. */

import type { StepSummary } from '../core/run-record'
import { ticks } from '../core/ticks'

const WIDTH = 960
const HEIGHT = 480
const PLOT = { left: 80, right: 24, top: 44, bottom: 56 }
/** Always light: a card is read on white. */
const COLORS = { background: '#ffffff', text: '#24292f', grid: '#d8dee4', band: '#cfe3f7', mean: '#0b62b0' }

/** What is drawn: values in the reward's units, steps without a scorable episode left out. */
export function curvePoints(history: readonly StepSummary[]): { step: number; mean: number; low: number; high: number }[] {
  return history.flatMap(({ step, metrics, rewardMin, rewardMax }) => {
    const mean = metrics['reward']
    if (typeof mean !== 'number' || !Number.isFinite(mean)) return []
    return [{ step, mean, low: rewardMin ?? mean, high: rewardMax ?? mean }]
  })
}

/**
 * The picture as a PNG of 960 × 480.
 * @returns null where nothing was scored, and where there is no OffscreenCanvas
 */
export async function curvePicture(history: readonly StepSummary[]): Promise<Blob | null> {
  const points = curvePoints(history)
  if (points.length === 0 || typeof OffscreenCanvas === 'undefined') return null
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT)
  const context = canvas.getContext('2d')
  if (!context) return null
  draw(context, points)
  return canvas.convertToBlob({ type: 'image/png' })
}

function draw(context: OffscreenCanvasRenderingContext2D, points: ReturnType<typeof curvePoints>): void {
  const lows = points.map(({ low }) => low)
  const highs = points.map(({ high }) => high)
  const flat = Math.max(...highs) === Math.min(...lows)
  const rewards = ticks(Math.min(...lows) - (flat ? 0.5 : 0), Math.max(...highs) + (flat ? 0.5 : 0))
  const steps = ticks(points[0]?.step ?? 0, points.at(-1)?.step ?? 0, 8).filter(Number.isInteger)
  const [left, right] = [Math.min(points[0]?.step ?? 0, steps[0] ?? 0), Math.max(points.at(-1)?.step ?? 0, steps.at(-1) ?? 0)]
  const [bottom, top] = [rewards[0] ?? 0, rewards.at(-1) ?? 1]
  const x = (step: number) => PLOT.left + ((WIDTH - PLOT.left - PLOT.right) * (right > left ? (step - left) / (right - left) : 0.5))
  const y = (reward: number) => HEIGHT - PLOT.bottom - (HEIGHT - PLOT.top - PLOT.bottom) * ((reward - bottom) / (top - bottom))

  context.fillStyle = COLORS.background
  context.fillRect(0, 0, WIDTH, HEIGHT)
  context.font = '16px sans-serif'
  context.lineWidth = 1
  context.strokeStyle = COLORS.grid
  context.fillStyle = COLORS.text
  context.textBaseline = 'middle'
  context.textAlign = 'right'
  for (const reward of rewards) {
    // Between two pixels a line is drawn over both, at half its strength.
    const height = Math.floor(y(reward)) + 0.5
    line(context, [[PLOT.left, height], [WIDTH - PLOT.right, height]])
    context.fillText(String(reward), PLOT.left - 10, y(reward))
  }
  context.textAlign = 'center'
  for (const step of steps) context.fillText(String(step), x(step), HEIGHT - PLOT.bottom + 18)
  context.fillText('step', (PLOT.left + WIDTH - PLOT.right) / 2, HEIGHT - 14)
  context.textAlign = 'left'
  context.fillText('reward: mean of each step, band from the least to the most', PLOT.left, 22)

  context.fillStyle = COLORS.band
  context.beginPath()
  // One step has no width.
  const half = points.length === 1 ? 12 : 0
  const edges = [...points.map((point) => [x(point.step) - half, point] as const), ...(half > 0 ? points.map((point) => [x(point.step) + half, point] as const) : [])]
  for (const [at, { high }] of edges) context.lineTo(at, y(high))
  for (const [at, { low }] of edges.reverse()) context.lineTo(at, y(low))
  context.fill()
  context.strokeStyle = COLORS.mean
  context.lineWidth = 2.5
  line(context, points.map(({ step, mean }) => [x(step), y(mean)]))
  context.fillStyle = COLORS.mean
  if (points.length <= 60) for (const { step, mean } of points) dot(context, x(step), y(mean))
}

function line(context: OffscreenCanvasRenderingContext2D, points: readonly (readonly [number, number])[]): void {
  context.beginPath()
  for (const [x, y] of points) context.lineTo(x, y)
  context.stroke()
}

function dot(context: OffscreenCanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath()
  context.arc(x, y, 3, 0, 2 * Math.PI)
  context.fill()
}
