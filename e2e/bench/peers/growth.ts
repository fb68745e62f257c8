/**
 * How the time of a step grows with slots, context, LoRA rank and layers: the exponent p of time = c · x^p over the three
 * largest places, by least squares. The step is one in small: a prompt that all slots share, 32 tokens of their own, training on all of it.
 * One WASM thread.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchRow } from '../../tools/bench-rows'
import { projectRoot } from '../../tools/run-command'
import { exponent, judged, refusedRow } from '../_pairs'
import { countFrom, median } from '../_rows'
import { type Curve, growthPlot } from './growth-plot'
import { makeModel, MODELS_FOLDER } from './models'
import type { OpenRequest } from './ours-run'
import { openEngine, withPages, type Call } from './pages'
import type { PeerSetting } from './setting'

/** Tokens that each slot writes. */
const OWN = 32
const PROMPT = 64
const MODEL = `/${MODELS_FOLDER}/tiny-qwen3`
/** The shipped model's shape, with as many layers as are asked for. */
const shape = (layers: number): Readonly<Record<string, unknown>> => ({
  model_type: 'qwen3', hidden_size: 96, num_hidden_layers: layers, num_attention_heads: 3, num_key_value_heads: 1, head_dim: 32, intermediate_size: 256,
  vocab_size: 1024, rms_norm_eps: 1e-6, rope_theta: 10_000, max_position_embeddings: 2048, tie_word_embeddings: true, hidden_act: 'silu',
})

interface Sweep {
  name: string
  unit: string
  places: readonly number[]
  at: (x: number) => Pick<OpenRequest, 'model' | 'slots' | 'r'> & { prompt: number }
}

const SWEEPS: readonly Sweep[] = [
  { name: 'slots', unit: 'slots', places: [1, 2, 4, 8, 16, 32, 64], at: (slots) => ({ model: MODEL, slots, prompt: PROMPT }) },
  { name: 'context', unit: 'tokens', places: [128, 256, 512, 1024, 2048], at: (tokens) => ({ model: MODEL, slots: 2, prompt: tokens - OWN }) },
  { name: 'rank', unit: 'LoRA rank', places: [4, 8, 16, 32, 64], at: (r) => ({ model: MODEL, slots: 8, r, prompt: PROMPT }) },
  { name: 'layers', unit: 'layers', places: [1, 2, 4, 8, 16], at: (layers) => ({ model: shape(layers), slots: 8, prompt: PROMPT }) },
]

/** The plot that README shows. */
const PLOT = 'e2e/bench/growth.svg'
const TRIAL_PLOT = '.cache/bench/growth.svg'
/** Places at the end of a curve that its exponent is of. */
const LAST = 3
/** So much above 1 is the clock's, not the program's. */
const TOLERANCE = 0.05

/** GRPO_BENCH_PLACES: so many places of each curve, for a trial, whose plot goes to .cache. */
export async function growthRows({ count, log }: PeerSetting): Promise<BenchRow[]> {
  await makeModel('tiny-qwen3')
  const most = countFrom(process.env, 'GRPO_BENCH_PLACES', 99)
  return withPages(async (pages) => {
    const curves: Curve[] = []
    const rows: BenchRow[] = []
    for (const sweep of SWEEPS) {
      try {
        const points: Curve['points'][number][] = []
        for (const x of sweep.places.slice(0, most)) points.push(await place(await pages.ours(), sweep, x, count, log))
        // Where x is small, what every step costs anyhow would hide a growth that comes later.
        const p = exponent(points.slice(-LAST))
        curves.push({ name: sweep.name, unit: sweep.unit, exponent: p, points })
        rows.push(growthRow(sweep, points, p))
      } catch (error) {
        rows.push(refusedRow(`growth/${sweep.name}`, error))
      }
    }
    const plot = curves.length === SWEEPS.length && most >= 7 && count >= 5 ? PLOT : TRIAL_PLOT
    mkdirSync(join(projectRoot, '.cache/bench'), { recursive: true })
    writeFileSync(join(projectRoot, plot), growthPlot(curves))
    log(`the plot is in ${plot}`)
    return rows
  })
}

async function place(ours: Call, { name, at }: Sweep, x: number, count: number, log: PeerSetting['log']): Promise<Curve['points'][number]> {
  const { prompt, ...engine } = at(x)
  await openEngine(ours, { ...engine, name: 'grown', contextLength: prompt + OWN, threads: 1 })
  const seconds: number[] = []
  for (let k = 0; k <= count; k++) seconds.push(await ours<number>('step', { name: 'grown', prompt, tokens: OWN }))
  await ours('close', { name: 'grown' })
  const counted = seconds.slice(1).sort((a, b) => a - b)
  log(`${name} ${x}: ${median(counted).toFixed(3)} s`)
  return { x, y: median(counted), least: counted[0] ?? Number.NaN, most: counted.at(-1) ?? Number.NaN }
}

export function growthRow({ name, unit }: Pick<Sweep, 'name' | 'unit'>, points: readonly { x: number; y: number }[], p: number): BenchRow {
  const note = points.map(({ x, y }) => `${x}: ${y.toPrecision(3)} s`).join(', ')
  return { bench: 'peers', row: `growth/${name}`, value: Number(p.toFixed(3)), unit: `exponent over ${unit}`, ...judged(p, { most: 1 + TOLERANCE }), note }
}
