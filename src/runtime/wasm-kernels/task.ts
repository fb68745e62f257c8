/** What threads do together: all layers over a batch, forward or backward. Plain numbers, so that a task can be sent. */

import type { Rows } from './heap'
import { type Batch, forwardLayer, type LayerValues, type Runner } from './layer'
import { backwardLayer, type BackwardScratch, type LayerGradients } from './layer-backward'
import { scoreRows, type ScoreTask, slopeRows, type SlopesTask } from './head'
import type { LayerPlan } from './plan'

export type Task =
  | {
      kind: 'forward'
      batch: Batch
      /** Of each layer, or one that all overwrite. */
      values: LayerValues[]
      /** Input of each layer, then the output of the last; places may repeat. */
      states: Rows[]
      /** Each layer's cache; null: the rows see each other. */
      caches: number[] | null
      /** First row whose output of the last layer is asked for. */
      wanted: number
    }
  | {
      kind: 'backward'
      batch: Batch
      /** Of each layer, or one into which each is computed again from its state. */
      values: LayerValues[]
      states: Rows[]
      gradients: LayerGradients[]
      room: BackwardScratch
      /** d loss / d output of the last layer; in the end that of the first's input. */
      d: Rows
      /** Room for a layer's output when it is computed again. */
      spare: Rows
    }
  | ScoreTask
  | SlopesTask

export function runTask(runner: Runner, task: Task): void {
  if (task.kind === 'score') return scoreRows(runner, task)
  if (task.kind === 'slopes') return slopeRows(runner, task)
  const { layers } = runner.plan
  const { values, states, batch } = task
  const valuesOf = (layer: number): LayerValues => (values[layer] ?? values[0]) as LayerValues
  if (task.kind === 'forward') {
    layers.forEach((plan, layer) => {
      const wanted = layer === layers.length - 1 ? task.wanted : 0
      forwardLayer(runner, plan, batch, valuesOf(layer), task.caches?.[layer] ?? null, states[layer] as Rows, states[layer + 1] as Rows, wanted)
    })
    return
  }
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const [plan, x] = [layers[layer] as LayerPlan, states[layer] as Rows]
    if (values.length === 1) forwardLayer(runner, plan, batch, valuesOf(layer), null, x, task.spare)
    backwardLayer(runner, plan, batch, valuesOf(layer), task.gradients[layer] as LayerGradients, task.room, x, task.d)
  }
}
