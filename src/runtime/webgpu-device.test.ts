/** What a call on the GPU fails with: the GPU's loss before all else, however late it is told. Everything else runs in a browser, e2e/browser/engine.test.ts. */

import { expect, it, vi } from 'vitest'
import type { OrtModule } from './ort'
import { WebGpuDevice } from './webgpu-device'

/** An onnxruntime whose first session is made and whose others fail, on a GPU that is lost when `lose` is called. */
function fakeOrt() {
  let lose: (info: { message: string; reason: string }) => void = () => undefined
  const lost = new Promise<{ message: string; reason: string }>((resolve) => (lose = resolve))
  const gpu = { lost, addEventListener: () => undefined }
  let made = 0
  const create = () => (made++ === 0 ? Promise.resolve({ inputNames: [], outputNames: [] }) : Promise.reject(new Error('The buffer is not there.')))
  const ort = { InferenceSession: { create }, env: { webgpu: { device: Promise.resolve(gpu) } } }
  return { ort: ort as unknown as OrtModule, lose }
}

it('a call that fails before the news that the GPU was lost fails with that news', async () => {
  vi.useFakeTimers()
  try {
    const { ort, lose } = fakeOrt()
    const device = new WebGpuDevice(ort, 'test')
    await device.createSession(new Uint8Array(), false)
    const failing = device.createSession(new Uint8Array(), false).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(500)
    lose({ message: 'gone', reason: 'unknown' })
    expect(await failing).toMatchObject({ kind: 'device-lost', message: 'The GPU was taken away (gone).' })
    await expect(device.createSession(new Uint8Array(), false)).rejects.toMatchObject({ kind: 'device-lost' })
  } finally {
    vi.useRealTimers()
  }
})

it('any other failure is told as it is', async () => {
  vi.useFakeTimers()
  try {
    const device = new WebGpuDevice(fakeOrt().ort, 'test')
    await device.createSession(new Uint8Array(), false)
    const failing = device.createSession(new Uint8Array(), false).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(5000)
    expect(await failing).toMatchObject({ kind: expect.not.stringContaining('lost') as string, message: expect.stringContaining('The buffer is not there.') as string })
  } finally {
    vi.useRealTimers()
  }
})
