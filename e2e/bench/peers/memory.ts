/** GPU memory on the software adapter: the same after 3 groups and after 50, and a training step's peak against the plan. */

import { DEFAULT_LORA } from '../../../src/core/config'
import { parseModelConfig } from '../../../src/model/config'
import { planMemory } from '../../../src/runtime/plan'
import { launchChromium } from '../../browser/chromium'
import { openHarness, runInPage } from '../../browser/harness'
import { startDevServer } from '../../browser/server'
import type { ShapePhase, ShapeRequest } from '../../models/shape-run'
import { SHAPES } from '../../models/shapes'
import type { MicroSteps } from '../../soak/micro-steps'
import type { BenchRow } from '../../tools/bench-rows'
import { refusedRow } from '../_pairs'
import { countFrom } from '../_rows'
import { plannedPeaks } from '../_shape-rows'
import type { PeerSetting } from './setting'

const FEW = 3
const MANY = 50

/** The counted one of plan.test.ts. */
const REQUEST: ShapeRequest = { shape: 'test-30m', precision: 'int4', slots: 2, contextLength: 256, microBatchTokens: 64, prompt: 4, decode: 1, sequences: 1, tokens: 64 }

/** GRPO_BENCH_GROUPS: groups that are played and trained on, 50 unless given. */
export async function memoryRows({ log }: PeerSetting): Promise<BenchRow[]> {
  const groups = Math.max(FEW + 1, countFrom(process.env, 'GRPO_BENCH_GROUPS', MANY))
  const server = await startDevServer()
  const browser = await launchChromium({ webgpu: true })
  const inPage = async <Result>(module: string, name: string, arg: unknown): Promise<Result> => {
    const { page } = await openHarness(browser, server.url)
    try {
      return await runInPage<Result>(page, module, name, arg, { worker: true })
    } finally {
      await page.context().close()
    }
  }
  try {
    const flat = inPage<MicroSteps>('e2e/soak/micro-steps.ts', 'microSteps', { steps: groups }).then(({ liveBytes }) => {
      log(`GPU bytes after each group: ${liveBytes.join(', ')}`)
      return growthRow(liveBytes)
    })
    const rows = [await flat.catch((error: unknown) => refusedRow('memory/groups', error))]
    const peak = inPage<ShapePhase[]>('e2e/models/shape-run.ts', 'runShape', REQUEST).then(peakRow)
    return [...rows, await peak.catch((error: unknown) => refusedRow('memory/training peak', error))]
  } finally {
    await browser.close()
    await server.close()
  }
}

/** `bytes` after each group: the last against the third. */
export function growthRow(bytes: readonly number[]): BenchRow {
  const [few, many] = [bytes[FEW - 1], bytes.at(-1)]
  if (few === undefined || many === undefined || bytes.length <= FEW) throw new Error(`${bytes.length} groups do not show a growth.`)
  const mb = (value: number): number => Number((value / 1e6).toFixed(3))
  const facts = { value: mb(many), unit: 'MB', peer: `after ${FEW} groups`, peerValue: mb(few), ratio: Number((many / few).toFixed(4)) }
  return { bench: 'peers', row: `memory/after ${bytes.length} groups`, ...facts, goal: '= 1', met: many === few, note: 'all GPU buffers, onnxruntime’s among them; tiny-qwen3' }
}

function peakRow(phases: readonly ShapePhase[]): BenchRow {
  const plan = planMemory({ config: parseModelConfig(SHAPES[REQUEST.shape]), lora: DEFAULT_LORA, ...REQUEST, rowTokens: REQUEST.tokens })
  const counted = phases.find(({ name }) => name === 'training step')?.gpu.peak
  if (counted === undefined) throw new Error('No training step was counted.')
  return peakAgainstPlan(counted, plannedPeaks(plan).trainingWithCache)
}

/** Within a tenth either way. */
export function peakAgainstPlan(counted: number, planned: number): BenchRow {
  const ratio = counted / planned
  const facts = { value: Number((counted / 1e6).toFixed(2)), unit: 'MB', peer: 'planMemory', peerValue: Number((planned / 1e6).toFixed(2)), ratio: Number(ratio.toFixed(3)) }
  return { bench: 'peers', row: 'memory/training peak', ...facts, goal: '0.9 to 1.1', met: ratio >= 0.9 && ratio <= 1.1, note: 'a random model, 4 bits, 1 x 64 tokens' }
}
