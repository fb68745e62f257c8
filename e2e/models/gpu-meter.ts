/** Counts GPU buffers and dispatches in the realm where it is imported, onnxruntime's own included, by wrapping WebGPU's prototypes. */

export interface GpuCounts {
  /** Bytes of buffers that were made and not destroyed. */
  live: number
  peak: number
  /** Largest single buffer, bytes. */
  largest: number
  buffers: number
  dispatches: number
  /** Buffers that live, by their size in bytes. */
  sizes: Record<number, number>
}

export interface GpuMeter {
  read(): GpuCounts
  /** Starts the peak at what is live, and the dispatches at zero. */
  restart(): void
}

let meter: GpuMeter | null = null

/** One meter a realm. Buffers that are dropped without destroy() count until the collector takes them. */
export function gpuMeter(): GpuMeter {
  meter ??= install()
  return meter
}

function install(): GpuMeter {
  const counts: GpuCounts = { live: 0, peak: 0, largest: 0, buffers: 0, dispatches: 0, sizes: {} }
  const sizes = new WeakMap<GPUBuffer, number>()
  const gone = (size: number): void => {
    counts.live -= size
    counts.sizes[size] = (counts.sizes[size] ?? 1) - 1
    counts.buffers--
  }
  // A destroyed buffer has left `held` and is not counted twice.
  const held = new Set<number>()
  let next = 0
  const collected = new FinalizationRegistry<{ id: number; size: number }>(({ id, size }) => {
    if (held.delete(id)) gone(size)
  })
  const ids = new WeakMap<GPUBuffer, number>()
  const create = GPUDevice.prototype.createBuffer
  GPUDevice.prototype.createBuffer = function (descriptor) {
    const buffer = create.call(this, descriptor)
    const { size } = descriptor
    const id = next++
    sizes.set(buffer, size)
    ids.set(buffer, id)
    held.add(id)
    collected.register(buffer, { id, size })
    counts.live += size
    counts.sizes[size] = (counts.sizes[size] ?? 0) + 1
    counts.buffers++
    counts.peak = Math.max(counts.peak, counts.live)
    counts.largest = Math.max(counts.largest, size)
    return buffer
  }
  const destroy = GPUBuffer.prototype.destroy
  GPUBuffer.prototype.destroy = function () {
    const id = ids.get(this)
    if (id !== undefined && held.delete(id)) gone(sizes.get(this) ?? 0)
    return destroy.call(this)
  }
  for (const name of ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect'] as const) {
    const dispatch = GPUComputePassEncoder.prototype[name] as (this: GPUComputePassEncoder, ...args: unknown[]) => undefined
    GPUComputePassEncoder.prototype[name] = function (this: GPUComputePassEncoder, ...args: unknown[]) {
      counts.dispatches++
      return dispatch.apply(this, args)
    }
  }
  return {
    read: () => ({ ...counts, sizes: Object.fromEntries(Object.entries(counts.sizes).filter(([, n]) => n > 0)) }),
    restart: () => {
      counts.peak = counts.live
      counts.dispatches = 0
    },
  }
}
