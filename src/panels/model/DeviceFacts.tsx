/** What this browser offers, as a short table that opens. */

import type { DeviceReport } from '../../core/plan'
import { bytes } from '../../ui/format'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'

/** `largestBuffer` in bytes: what the model needs of one buffer. */
export function DeviceFacts({ device, largestBuffer }: { device: DeviceReport; largestBuffer: number }) {
  const words = S.model.device
  const { gpu, threads } = device
  const rows: [string, string][] = gpu
    ? [
        [words.gpu, gpu.software ? `${gpu.name} (${words.software})` : gpu.name],
        [words.f16, gpu.shaderF16 ? words.yes : words.no],
        [words.buffer, `${bytes(gpu.maxBufferSize)}; ${words.needs(bytes(largestBuffer))}`],
        [words.binding, bytes(gpu.maxStorageBufferBindingSize)],
      ]
    : [[words.gpu, words.noGpu]]
  rows.push([words.threads, String(threads)])
  return (
    <details className="device" data-testid="device">
      <summary>{words.title}</summary>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Help of="model:device" name={words.title} />
    </details>
  )
}
