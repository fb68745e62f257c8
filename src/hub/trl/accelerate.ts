/** Settings of accelerate for one GPU and for several on one machine. */

import type { ExportFile } from '../../core/run-record'

const common = (type: string, processes: number): string => `compute_environment: LOCAL_MACHINE
debug: false
distributed_type: ${type}
downcast_bf16: 'no'
gpu_ids: all
machine_rank: 0
main_training_function: main
mixed_precision: 'bf16'
num_machines: 1
num_processes: ${processes}
rdzv_backend: static
same_network: true
use_cpu: false
`

/** As many processes as one machine usually has GPUs, and as share the episodes of a step evenly. */
export const processesFor = (episodes: number): number => [8, 4, 2].find((count) => episodes % count === 0) ?? 1

/** Both files. */
export function accelerateFiles(episodes: number): ExportFile[] {
  return [
    { path: 'accelerate/single_gpu.yaml', content: common("'NO'", 1) },
    { path: 'accelerate/multi_gpu.yaml', content: common('MULTI_GPU', processesFor(episodes)) },
  ]
}
