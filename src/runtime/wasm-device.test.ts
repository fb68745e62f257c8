import { beforeAll, describe, expect, it } from 'vitest'
import { accumulate, adamw } from '../artifacts/optimizer'
import { PlaygroundError } from '../core/errors'
import { toOnnx } from '../graph/onnx'
import { loadOrt } from './ort'
import { engineError, WasmDevice } from './wasm-device'

let device: WasmDevice
beforeAll(async () => {
  device = new WasmDevice(() => loadOrt('wasm', 1), 1)
})

describe('tensors', () => {
  it('are copies of what was uploaded and of what is read', async () => {
    const data = Float32Array.of(1, 2, 3)
    const tensor = device.upload(data, [3])
    data[0] = 9
    const read = await device.read(tensor)
    read[1] = 9
    expect([...(await device.read(tensor))]).toEqual([1, 2, 3])
    device.free(tensor)
  })

  it('are written and copied in parts, in order, also within one', async () => {
    const [a, b] = [device.upload(Float32Array.of(1, 2, 3, 4), [4]), device.zeros([4])]
    device.copy([
      { from: a, fromOffset: 1, to: b, toOffset: 0, count: 2 },
      { from: b, fromOffset: 0, to: b, toOffset: 2, count: 2 },
    ])
    device.write(b, 1, Float32Array.of(7))
    expect([...(await device.read(b))]).toEqual([2, 7, 2, 3])
    device.free(a, b)
  })

  it('are counted until they are freed; inputs of a run are not', () => {
    const before = device.allocatedBytes
    const [a, b] = [device.upload(new Float32Array(4), [4]), device.zeros([2, 3])]
    device.host(new Float32Array(100), [100])
    expect(device.allocatedBytes - before).toBe(40)
    device.free(a, null, undefined, b)
    expect(device.allocatedBytes).toBe(before)
  })
})

describe('a run', () => {
  it('leaves out inputs that the graph lacks, and hands out what it made', async () => {
    const session = await device.createSession(toOnnx(accumulate()), false)
    const before = device.allocatedBytes
    const host = (x: number) => device.host(Float32Array.of(x, x), [2])
    const out = await device.run(session, { sum: host(1), part: host(2), nobody: host(3) })
    expect([...((out.sum_out?.tensor.data ?? []) as Float32Array)]).toEqual([3, 3])
    expect(device.allocatedBytes - before).toBe(8)
    device.free(out.sum_out)
    await device.release(session)
  })

  it('replaces what a cell holds, and counts nothing for it', async () => {
    const session = await device.createSession(toOnnx(accumulate()), false)
    const cell = { value: device.upload(Float32Array.of(1), [1]) }
    const before = device.allocatedBytes
    for (let k = 0; k < 3; k++) {
      expect(await device.run(session, { sum: cell.value, part: device.host(Float32Array.of(2), [1]) }, { sum_out: cell })).toEqual({})
    }
    expect([...(await device.read(cell.value))]).toEqual([7])
    expect(device.allocatedBytes).toBe(before)
    device.free(cell.value)
    await device.release(session)
  })

  it('that onnxruntime refuses is an engine error with the cause', async () => {
    const session = await device.createSession(toOnnx(adamw()), false)
    const error: unknown = await device.run(session, {}).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PlaygroundError)
    expect(error).toMatchObject({ kind: 'engine', message: expect.stringMatching(/input '\w+' is missing/), cause: expect.anything() })
    await device.release(session)
  })

  it('of bytes that are no model is an engine error', async () => {
    await expect(device.createSession(Uint8Array.of(1, 2, 3), false)).rejects.toMatchObject({ kind: 'engine' })
  })
})

describe('engineError', () => {
  it.each(['std::bad_alloc', 'RuntimeError: memory access out of bounds', 'Out of memory', 'Array buffer allocation failed'])('%s is a lack of memory', (message) => {
    expect(engineError(new Error(message))).toMatchObject({ kind: 'memory', advice: expect.stringContaining('num_generations') })
  })
  it('keeps ours, and wraps what is no error', () => {
    const ours = new PlaygroundError('device-lost', 'gone')
    expect(engineError(ours)).toBe(ours)
    expect(engineError('text')).toMatchObject({ kind: 'engine', message: 'The engine stopped: text', cause: 'text' })
  })
})
