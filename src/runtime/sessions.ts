/** Sessions of the training artifacts, built when first needed and released together. */

import { keptBytes } from '../artifacts/blocks'
import { buildArtifact, type FrozenWeights } from '../artifacts/build'
import type { ArtifactName, ArtifactSpec } from '../artifacts/spec'
import type { Graph } from '../graph/graph'
import { toOnnx } from '../graph/onnx'
import type { Device, DeviceSession } from './device'

/** Results of these are read at once; all other outputs stay on the device. */
const ON_HOST: readonly ArtifactName[] = ['head_sample', 'head_sample_filtered', 'head_forward', 'head_forward_part', 'grad_norm']

export class Sessions {
  /** Weights to bake into the sampling graphs; null passes them as inputs. Set before the first of those is made. */
  frozen: FrozenWeights | null = null
  private readonly made = new Map<ArtifactName, Promise<DeviceSession>>()
  private readonly keeping = new Map<number, Graph>()

  constructor(
    private readonly device: Device,
    private readonly spec: ArtifactSpec,
  ) {}

  get(name: ArtifactName): Promise<DeviceSession> {
    let session = this.made.get(name)
    if (!session) {
      const bytes = toOnnx(buildArtifact(this.spec, name, this.frozen ?? undefined))
      session = this.device.createSession(bytes, ON_HOST.includes(name))
      this.made.set(name, session)
      // The next call tries again.
      session.catch(() => this.made.delete(name))
    }
    return session
  }

  /** Bytes that one layer of a micro-batch keeps between forward and backward, where the costly values are kept. */
  keptBytes(batch: number, tokens: number): number {
    const graph = this.keeping.get(batch) ?? buildArtifact(this.spec, `block_forward_keep_${batch}`)
    this.keeping.set(batch, graph)
    return keptBytes(graph, tokens)
  }

  async release(): Promise<void> {
    const all = [...this.made.values()]
    this.made.clear()
    for (const session of await Promise.allSettled(all)) if (session.status === 'fulfilled') await this.device.release(session.value)
  }
}
