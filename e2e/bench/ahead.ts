/**
 * Seconds of a GRPO step with the next batch sampled while the last is trained on (max_staleness 1), against sampling after each update (0):
 * lane over a WebSocket whose answers take 0, 50 and 200 ms, on the page's WASM engine in Node with one thread. Both runs take their steps in
 * turns, so that what else the machine does is in both. GRPO_BENCH_PAIRS: steps that count, 5 unless given.
 */

import WebSocket from 'ws'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { GrpoTrainer } from '../../src/train/grpo'
import { configOf, tinyChat, tinyEngine } from '../integration/grpo-run'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { pairedRow, takeTurns, WARM_UP } from './_pairs'
import { countFrom } from './_rows'
import { startSlowLane } from './_slow-lane'

const LATENCIES = [0, 50, 200]

/** `words`: latencies in ms; none means 0, 50 and 200. */
export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const unknown = words.find((word) => !/^\d{1,4}$/.test(word))
  if (unknown !== undefined) throw new Error(`ahead has no row ${unknown}. Rows are latencies in ms, such as ${LATENCIES.join(', ')}.`)
  const count = countFrom(process.env, 'GRPO_BENCH_PAIRS', 5)
  const rows: BenchRow[] = []
  for (const latency of words.length > 0 ? words.map(Number) : LATENCIES) rows.push(await latencyRow(latency, count, log))
  return rows
}

async function latencyRow(latency: number, count: number, log: BenchLog): Promise<BenchRow> {
  const server = await startSlowLane(latency)
  const [ahead, after] = [await stepper(server.url, 1, count), await stepper(server.url, 0, count)]
  try {
    const pairs = await takeTurns(count, ahead.step, after.step, ({ ours, peer }, n) => log(`${latency} ms, step ${n + WARM_UP}: ${ours.toFixed(2)} against ${peer.toFixed(2)} s`))
    const note = `lane preset over a WebSocket, ${latency} ms an answer, one thread in Node`
    return { ...pairedRow({ row: `ahead/${latency}ms`, unit: 's', peer: 'max_staleness 0', note }, pairs), bench: 'ahead' }
  } finally {
    await Promise.all([ahead.end(), after.end()])
    await server.stop()
  }
}

/** A run of its own; each call makes one step and tells its seconds. */
async function stepper(url: string, max_staleness: number, count: number) {
  const preset = configOf('lane')
  // Nobody samples ahead of the last step: it is never come to.
  const config = { ...preset, environment: { kind: 'openenv' as const, url }, grpo: { ...preset.grpo, max_staleness, max_steps: count + WARM_UP + 1 } }
  const engine = await tinyEngine(config)
  const environment = new OpenEnvEnvironment(url, { WebSocket })
  await environment.connect()
  const trainer = new GrpoTrainer({ config, engine, environment, chat: await tinyChat(), onEvent: () => undefined })
  return {
    step: async (): Promise<number> => {
      const { seconds, episodes } = await trainer.step()
      const lost = episodes.find(({ error }) => error !== null)
      if (lost) throw new Error(`An episode was lost: ${lost.error}`)
      return seconds.sampling + seconds.training
    },
    end: async (): Promise<void> => {
      await environment.close()
      await engine.dispose()
    },
  }
}
