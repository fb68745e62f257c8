import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { readSafetensors, readSafetensorsHeader, widen, writeSafetensors } from './safetensors'

/** A file from a header value and data bytes, with nothing checked. */
function file(header: unknown, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header))
  const out = new Uint8Array(8 + text.length + data.length)
  new DataView(out.buffer).setBigUint64(0, BigInt(text.length), true)
  out.set(text, 8)
  out.set(data, 8 + text.length)
  return out
}

function halves(...values: number[]): Uint8Array {
  return new Uint8Array(Uint16Array.from(values).buffer)
}

const bytes = (n: number) => new Uint8Array(n)
const entry = (begin: number, end: number, shape = [(end - begin) / 4], dtype = 'F32') => ({ dtype, shape, data_offsets: [begin, end] })

describe('writeSafetensors', () => {
  // Bytes of safetensors.numpy.save({'b': [[1, 2]], 'a': [0.5]}, {'format': 'pt'}), release 0.8.0.
  it('writes the bytes that the reference writer writes', () => {
    const written = writeSafetensors([
      { name: 'b', dims: [1, 2], data: Float32Array.of(1, 2) },
      { name: 'a', dims: [1], data: Float32Array.of(0.5) },
    ])
    const json =
      '{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' +
      '"b":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]}}'
    const padded = json.padEnd(Math.ceil(json.length / 8) * 8, ' ')
    expect(written).toEqual(file(padded, new Uint8Array(Float32Array.of(0.5, 1, 2).buffer)))
  })

  it('gives back what it was given, whatever the order, and keeps views apart', () => {
    const pool = Float32Array.of(9, 1, 2, 3, 9)
    const tensors = [
      { name: 'model.layers.10.w', dims: [3], data: pool.subarray(1, 4) },
      { name: 'model.layers.2.w', dims: [], data: Float32Array.of(-0.25) },
      { name: '7', dims: [0, 4], data: new Float32Array(0) },
    ]
    const written = writeSafetensors(tensors, { step: '12', author: 'é' })
    expect(writeSafetensors([...tensors].reverse(), { author: 'é', step: '12' })).toEqual(written)
    const read = readSafetensors(written)
    expect(read.metadata).toEqual({ step: '12', author: 'é' })
    expect([...read.tensors.keys()].sort()).toEqual(['7', 'model.layers.10.w', 'model.layers.2.w'])
    expect(read.tensors.get('model.layers.10.w')).toEqual({ dtype: 'F32', dims: [3], data: Float32Array.of(1, 2, 3) })
    expect(read.tensors.get('model.layers.2.w')?.data).toEqual(Float32Array.of(-0.25))
  })

  it('refuses a name twice and data that do not fit', () => {
    const a = { name: 'a', dims: [2], data: Float32Array.of(1, 2) }
    expect(() => writeSafetensors([a, a])).toThrow("the name 'a' is taken")
    expect(() => writeSafetensors([{ ...a, dims: [3] }])).toThrow("'a' has dims [3] but 2 values")
  })
})

describe('readSafetensors', () => {
  it('widens half precision, subnormals and infinities exactly', () => {
    const values = widen(halves(0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x8000), 'F16')
    expect(values).toEqual(Float32Array.of(1, -2, 2 ** -24, 65504, Infinity, -Infinity, -0))
    expect(widen(halves(0x7e00), 'F16')[0]).toBeNaN()
  })

  it('widens bfloat16 exactly', () => {
    const values = widen(halves(0x3f80, 0xc049, 0x7f80, 0x0001), 'BF16')
    expect(values).toEqual(Float32Array.of(1, -3.140625, Infinity, 2 ** -133))
  })

  it('reads tensors at odd byte positions', () => {
    const read = readSafetensors(file('{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}} ', halves(0x3f80)))
    expect(read.tensors.get('a')).toEqual({ dtype: 'BF16', dims: [1], data: Float32Array.of(1) })
    const shifted = new Uint8Array([0, ...file({ a: entry(0, 4) }, new Uint8Array(Float32Array.of(7).buffer))]).subarray(1)
    expect(readSafetensors(shifted).tensors.get('a')?.data).toEqual(Float32Array.of(7))
    expect(readSafetensors(Buffer.from(shifted)).tensors.get('a')?.data).toEqual(Float32Array.of(7))
  })

  it.each<[string, Uint8Array, string]>([
    ['too few bytes', bytes(3), 'it has 3 bytes'],
    ['a web page', new TextEncoder().encode('<!doctype html><html></html>'), 'announce a header of'],
    ['a header that is cut', file({ a: entry(0, 4) }, bytes(4)).subarray(0, 20), 'only 20 bytes'],
    ['text that is not JSON', file('{"a":'), 'not JSON'],
    ['text that is not UTF-8', file('x').fill(0xff, 8), 'not JSON'],
    ['a list', file([1]), 'not a JSON object'],
    ['an entry that is no object', file({ a: 4 }), "entry of 'a' is not an object"],
    ['an unknown dtype', file({ a: entry(0, 4, [4], 'U8') }, bytes(4)), `'a' has dtype "U8"`],
    ['a negative dimension', file({ a: entry(0, 4, [-1]) }, bytes(4)), "'a' has the shape [-1]"],
    ['broken offsets', file({ a: { dtype: 'F32', shape: [1], data_offsets: [0] } }, bytes(4)), "'a' has the offsets [0]"],
    ['a size that does not fit', file({ a: entry(0, 8, [3]) }, bytes(8)), 'which takes 12 bytes'],
    ['an overlap', file({ a: entry(0, 8), b: entry(4, 12) }, bytes(12)), "'b' starts at byte 4, inside"],
    ['a hole', file({ a: entry(0, 4), b: entry(8, 12) }, bytes(12)), 'belong to no tensor'],
    ['data that are cut', file({ a: entry(0, 8) }, bytes(4)), 'but the file has'],
    ['data left over', file({ a: entry(0, 4) }, bytes(6)), 'but the file has'],
    ['metadata that are not text', file({ __metadata__: { step: 3 } }), "metadata 'step' is not text"],
  ])('refuses %s', (_, input, sentence) => {
    const run = () => readSafetensors(input)
    expect(run).toThrow(PlaygroundError)
    expect(run).toThrow(sentence)
  })

  it('reads a header without the data when told the size', () => {
    const whole = writeSafetensors([{ name: 'a', dims: [2], data: Float32Array.of(1, 2) }])
    const head = whole.subarray(0, whole.length - 8)
    expect(readSafetensorsHeader(head, whole.length).entries.get('a')).toEqual({ dtype: 'F32', dims: [2], begin: 0, end: 8 })
    expect(readSafetensorsHeader(head, null).dataStart).toBe(head.length)
    expect(() => readSafetensorsHeader(head)).toThrow('but the file has')
  })
})
