import { expect, it } from 'vitest'
import { ProtoWriter } from './protobuf'
import { fields } from './testing/wire'

it('writes the examples of the encoding guide', () => {
  expect([...new ProtoWriter().int(1, 150).finish()]).toEqual([0x08, 0x96, 0x01])
  expect([...new ProtoWriter().string(2, 'testing').finish()]).toEqual([0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67])
  expect([...new ProtoWriter().message(3, (w) => w.int(1, 150)).finish()]).toEqual([0x1a, 0x03, 0x08, 0x96, 0x01])
})

it('writes negative numbers as ten bytes of two’s complement, and zero', () => {
  expect([...new ProtoWriter().int(1, -1).finish()]).toEqual([0x08, ...new Array<number>(9).fill(0xff), 0x01])
  expect([...new ProtoWriter().int(20, 0).finish()]).toEqual([0xa0, 0x01, 0x00])
})

it('writes 64-bit numbers exactly', () => {
  const value = 2n ** 63n - 1n
  expect(fields(new ProtoWriter().int(1, value).finish())[0]?.value).toBe(value)
})

it('writes floats as four little-endian bytes', () => {
  expect([...new ProtoWriter().float(2, 1).finish()]).toEqual([0x15, 0, 0, 0x80, 0x3f])
})

it('writes text as UTF-8, whose length is in bytes', () => {
  expect(fields(new ProtoWriter().string(1, 'Wᵀ€').finish())[0]?.bytes).toHaveLength(7)
})

it('grows past its first buffer and keeps what is there', () => {
  const writer = new ProtoWriter()
  const big = Uint8Array.from({ length: 5000 }, (_, i) => i % 251)
  writer.string(1, 'first').raw(2, big).string(3, 'last')
  const [first, second, third] = fields(writer.finish())
  expect(new TextDecoder().decode(first?.bytes)).toBe('first')
  expect(Buffer.from(second?.bytes ?? []).equals(Buffer.from(big))).toBe(true)
  expect(new TextDecoder().decode(third?.bytes)).toBe('last')
})
