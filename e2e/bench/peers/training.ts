/** Forward, backward and AdamW of 8 × 256 tokens on one thread: our engine in Chromium against PyTorch eager with PEFT. */

import { spreadIds } from '../../models/workload'
import type { BenchRow } from '../../tools/bench-rows'
import { ensureVenv } from '../../tools/venv'
import { pairedRow, refusedRow, takeTurns, WARM_UP } from '../_pairs'
import { PeerProcess } from '../_peer-process'
import { makeModel, MODELS_FOLDER, PEER_MODELS, type PeerModel } from './models'
import { openEngine, withPages, type Pages } from './pages'
import type { PeerSetting } from './setting'

const SEQUENCES = 8
const TOKENS = 256

interface Trained {
  seconds: number
  loss: number
}

export async function trainingRows(setting: PeerSetting): Promise<BenchRow[]> {
  return withPages(async (pages) => {
    const rows: BenchRow[] = []
    for (const model of PEER_MODELS) {
      rows.push(await trainingRow(pages, model, setting).catch((error: unknown) => refusedRow(`training/${model}`, error)))
    }
    return rows
  })
}

async function trainingRow(pages: Pages, model: PeerModel, { count, log }: PeerSetting): Promise<BenchRow> {
  const folder = await makeModel(model)
  const peer = new PeerProcess(await ensureVenv('reference'), ['e2e/bench/peers/training.py', folder], 1)
  try {
    const { threads, trainable, attention } = await peer.next<{ threads: number; trainable: number; attention: string }>()
    const ours = await pages.ours()
    await openEngine(ours, { name: model, model: `/${MODELS_FOLDER}/${model}`, slots: 1, contextLength: TOKENS, threads: 1 })
    log(`${model}: PyTorch has ${threads} thread, ${trainable} trained parameters, ${attention} attention`)
    const sequences = Array.from({ length: SEQUENCES }, (_, s) => spreadIds(TOKENS, 1000).map((id) => (id + 101 * s) % 1000))
    const losses = { ours: Number.NaN, peer: Number.NaN }
    const seconds = (side: 'ours' | 'peer', { seconds, loss }: Trained): number => {
      losses[side] = loss
      return seconds
    }
    const pairs = await takeTurns(
      count,
      async () => seconds('ours', await ours<Trained>('train', { name: model, sequences })),
      async () => seconds('peer', await peer.ask<Trained>(sequences)),
      (pair, n) => {
        const times = `${pair.ours.toFixed(3)} against ${pair.peer.toFixed(3)} s`
        log(`${model}${n < 1 ? ' (warming up)' : ''}: ${times}, loss ${losses.ours.toFixed(6)} and ${losses.peer.toFixed(6)}`)
        // Fresh LoRAs are the base model; later steps begin from other A matrices.
        if (n === 1 - WARM_UP && !(Math.abs(losses.ours - losses.peer) < 1e-4)) {
          throw new Error(`The two do not compute the same loss: ${losses.ours} and ${losses.peer}.`)
        }
      },
    )
    await ours('close', { name: model })
    const note = `one thread each, ${SEQUENCES} x ${TOKENS} tokens, LoRA r 16 on all linear layers, float32`
    return pairedRow({ row: `training/${model}`, unit: 's', peer: 'PyTorch eager', goal: { most: 2 }, note }, pairs)
  } finally {
    await peer.stop()
  }
}
