import { describe, expect, it } from 'vitest'
import { cutTensor, PIECE_ELEMENTS, readTensor, type WeightSource } from './weights'

describe('cutTensor', () => {
  it('cuts whole rows, all of them, in order, as views', () => {
    const [rows, columns] = [5, PIECE_ELEMENTS / 2]
    const data = new Float32Array(rows * columns)
    data[columns * 4] = 7
    const pieces = [...cutTensor('w', [rows, columns], data)]
    expect(pieces.map(({ offset, data: part }) => [offset / columns, part.length / columns])).toEqual([[0, 2], [2, 2], [4, 1]])
    expect(pieces[2]?.data[0]).toBe(7)
    expect(pieces.every((piece) => piece.data.buffer === data.buffer)).toBe(true)
  })

  it('never cuts inside a row, however long, and takes a vector as one row', () => {
    const long = new Float32Array(2 * (PIECE_ELEMENTS + 3))
    expect([...cutTensor('w', [2, PIECE_ELEMENTS + 3], long)].map(({ data }) => data.length)).toEqual([PIECE_ELEMENTS + 3, PIECE_ELEMENTS + 3])
    expect([...cutTensor('b', [4], new Float32Array(4))]).toHaveLength(1)
  })
})

it('a tensor is read as a whole from its pieces', async () => {
  const values = Float32Array.from({ length: 6 }, (_, i) => i)
  const source: Pick<WeightSource, 'tensors' | 'pieces'> = {
    tensors: () => Promise.resolve(new Map([['w', [3, 2]]])),
    async *pieces([name = '']) {
      yield await Promise.resolve({ name, offset: 4, data: values.subarray(4) })
      yield { name, offset: 0, data: values.subarray(0, 4) }
    },
  }
  expect(await readTensor(source as WeightSource, 'w')).toEqual({ dims: [3, 2], data: values })
})
