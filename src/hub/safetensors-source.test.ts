import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { PIECE_ELEMENTS, readTensor, type WeightPiece } from '../core/weights'
import type { ByteSource } from './bytes'
import { writeSafetensors } from './safetensors'
import { readSafetensorsIndex } from './safetensors-index'
import { GAP_BYTES, HEAD_BYTES, SafetensorsSource, type PlannedRange } from './safetensors-source'
import { bf16Ramp, countedBytes, safetensorsFile } from './testing/counted-bytes'

const config = () => Promise.resolve({ model_type: 'qwen3' })
const single = (file: ByteSource, onPlan?: (ranges: PlannedRange[]) => void) =>
  new SafetensorsSource({ config, name: 'me/model', files: () => Promise.resolve([file]), ...(onPlan ? { onPlan } : {}) })

async function collect(source: SafetensorsSource, wanted: string[]): Promise<WeightPiece[]> {
  const pieces: WeightPiece[] = []
  for await (const piece of source.pieces(wanted)) pieces.push(piece)
  return pieces
}

/** Bit for bit; toEqual takes seconds on arrays of this size. */
const same = (a: Float32Array | undefined, b: Float32Array | undefined): boolean =>
  a !== undefined && b !== undefined && Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength))

describe('SafetensorsSource', () => {
  it('joins neighbours, jumps over what nobody wants, and reads the first megabyte once', async () => {
    const [early, body, head, tail] = [bf16Ramp(7), bf16Ramp(600_000, 7), bf16Ramp(GAP_BYTES, 9), bf16Ramp(1000, 11)]
    const file = countedBytes(
      'model.safetensors',
      // An odd header length, so that no element is aligned.
      safetensorsFile([
        { name: 'early', dtype: 'BF16', dims: [7], bytes: early.bytes },
        { name: 'body', dtype: 'BF16', dims: [600, 1000], bytes: body.bytes },
        { name: 'lm_head.weight', dtype: 'BF16', dims: [GAP_BYTES], bytes: head.bytes },
        { name: 'unwanted', dtype: 'BF16', dims: [7], bytes: early.bytes },
        { name: 'tail', dtype: 'BF16', dims: [10, 100], bytes: tail.bytes },
        { name: 'little', dtype: 'BF16', dims: [7], bytes: early.bytes },
        { name: 'end', dtype: 'F32', dims: [2, 1], bytes: new Uint8Array(Float32Array.of(1.5, -2.5).buffer) },
      ]),
    )
    const plans: PlannedRange[][] = []
    const source = single(file, (ranges) => plans.push(ranges))
    const wanted = ['end', 'tail', 'body', 'early']
    const pieces = await collect(source, wanted)
    expect(pieces.map(({ name, offset }) => [name, offset])).toEqual([['early', 0], ['body', 0], ['tail', 0], ['end', 0]])
    const expected = [early.values, body.values, tail.values, Float32Array.of(1.5, -2.5)]
    expect(pieces.map(({ data }, i) => same(data, expected[i]))).toEqual([true, true, true, true])
    const bodyEnd = file.size - (2 * GAP_BYTES + 14 + 2000 + 14 + 8)
    const tailBegin = file.size - (2000 + 14 + 8)
    expect(file.reads).toEqual([
      { begin: 0, end: HEAD_BYTES, given: HEAD_BYTES },
      { begin: HEAD_BYTES, end: bodyEnd, given: bodyEnd - HEAD_BYTES },
      { begin: tailBegin, end: file.size, given: file.size - tailBegin },
    ])
    expect(plans).toEqual([[{ file, begin: HEAD_BYTES, end: bodyEnd }, { file, begin: tailBegin, end: file.size }]])
    expect((await source.tensors()).get('tail')).toEqual([10, 100])
    expect(await source.config()).toEqual({ model_type: 'qwen3' })
  })

  it('cuts a tensor into pieces of whole rows', async () => {
    const columns = 1001
    const rows = Math.floor(PIECE_ELEMENTS / columns) + 3
    const { bytes, values } = bf16Ramp(rows * columns)
    const file = countedBytes('model.safetensors', safetensorsFile([{ name: 'w', dtype: 'BF16', dims: [rows, columns], bytes }]), 65_537)
    const pieces = await collect(single(file), ['w'])
    expect(pieces.map(({ offset, data }) => [offset, data.length])).toEqual([
      [0, (rows - 3) * columns],
      [(rows - 3) * columns, 3 * columns],
    ])
    const whole = new Float32Array(values.length)
    for (const piece of pieces) whole.set(piece.data, piece.offset)
    expect(same(whole, values)).toBe(true)
  })

  it('reads a header longer than the first range', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ name: `model.layers.${i}.weight`, dims: [1], data: Float32Array.of(i) }))
    const file = countedBytes('model.safetensors', writeSafetensors(many), 300_000)
    const source = single(file)
    expect((await source.tensors()).size).toBe(20_000)
    expect((await readTensor(source, 'model.layers.19999.weight')).data).toEqual(Float32Array.of(19_999))
    expect(file.reads[0]).toEqual({ begin: 0, end: HEAD_BYTES, given: HEAD_BYTES })
    expect(file.reads[1]?.begin).toBe(HEAD_BYTES)
  })

  it('closes the file when its reader has had enough', async () => {
    const file = countedBytes('model.safetensors', safetensorsFile([{ name: 'w', dtype: 'BF16', dims: [3, 1_000_000], bytes: bf16Ramp(3_000_000).bytes }]))
    let closed = false
    const watched: ByteSource = {
      ...file,
      async *read(begin, end) {
        try {
          yield* file.read(begin, end)
        } finally {
          closed = begin > 0
        }
      },
    }
    for await (const piece of single(watched).pieces(['w'])) {
      expect(piece.offset).toBe(0)
      break
    }
    expect(closed).toBe(true)
  })

  it('tries again after a connection that was lost, for headers and for pieces', async () => {
    const file = countedBytes('model.safetensors', safetensorsFile([{ name: 'w', dtype: 'BF16', dims: [1_000_000], bytes: bf16Ramp(1_000_000).bytes }]))
    const source = single(file)
    file.breakAt = 5000
    await expect(source.tensors()).rejects.toThrow('connection to model.safetensors was lost')
    file.breakAt = 1_500_000
    await expect(collect(source, ['w'])).rejects.toThrow('was lost')
    expect(same((await collect(source, ['w']))[0]?.data, bf16Ramp(1_000_000).values)).toBe(true)
  })

  it('reads shards that an index names, one after the other', async () => {
    const one = (name: string, value: number) => writeSafetensors([{ name, dims: [1], data: Float32Array.of(value) }])
    const files = {
      'model-00001-of-00002.safetensors': countedBytes('model-00001-of-00002.safetensors', one('a', 1)),
      'model-00002-of-00002.safetensors': countedBytes('model-00002-of-00002.safetensors', one('b', 2)),
    }
    const index = (map: Record<string, string>) => readSafetensorsIndex(JSON.stringify({ metadata: {}, weight_map: map }))
    const sharded = (map: Record<string, string>) =>
      new SafetensorsSource({
        config,
        name: 'me/model',
        files: async () => ({
          index: index(map),
          open: (name) => {
            const file = files[name as keyof typeof files]
            if (!file) throw new PlaygroundError('model', `me/model has no file ${name}.`, 'Choose another revision.')
            return file
          },
        }),
      })
    const good = { b: 'model-00002-of-00002.safetensors', a: 'model-00001-of-00002.safetensors' }
    expect((await collect(sharded(good), ['b', 'a'])).map(({ name, data }) => [name, data[0]])).toEqual([['a', 1], ['b', 2]])
    await expect(collect(sharded(good), ['a', 'c'])).rejects.toThrow("me/model has no tensor 'c'")
    await expect(sharded({ ...good, c: 'model-00002-of-00002.safetensors' }).tensors()).rejects.toThrow(
      "The index says that 'c' is in model-00002-of-00002.safetensors, but that file does not hold it.",
    )
    await expect(sharded({ a: 'model.safetensors' }).tensors()).rejects.toThrow('no file model.safetensors')
    files['model-00002-of-00002.safetensors'] = countedBytes('model-00002-of-00002.safetensors', writeSafetensors(['a', 'b'].map((name) => ({ name, dims: [1], data: Float32Array.of(1) }))))
    await expect(sharded(good).tensors()).rejects.toThrow("'a' is in two files: model-00001-of-00002.safetensors and model-00002-of-00002.safetensors")
  })

  const whole = writeSafetensors([{ name: 'w', dims: [2], data: Float32Array.of(1, 2) }])
  it.each<[string, Uint8Array, string]>([
    ['a pointer instead of the file', new TextEncoder().encode('version https://git-lfs.github.com/spec/v1'), 'announce a header of'],
    ['a header longer than the file', Uint8Array.of(255, 255, 255, 1, 0, 0, 0, 0, 123), 'header should end at byte 33554439'],
    ['a file that is cut', whole.slice(0, -1), 'but the file has'],
    ['an empty file', new Uint8Array(0), 'it has 0 bytes'],
  ])('names the file that is %s', async (_, bytes, sentence) => {
    const error: unknown = await single(countedBytes('shard-3.safetensors', bytes)).tensors().catch((e: unknown) => e)
    expect(error).toMatchObject({ kind: 'model', message: expect.stringMatching(/^shard-3\.safetensors: /) as string })
    expect((error as Error).message).toContain(sentence)
  })

  it('says which tensor a file ends in when its source gives fewer bytes than it said', async () => {
    const file = countedBytes('model.safetensors', safetensorsFile([{ name: 'w', dtype: 'BF16', dims: [1_000_000], bytes: bf16Ramp(1_000_000).bytes }]))
    const short: ByteSource = { ...file, read: (begin, end) => file.read(begin, Math.min(end, 1_500_000)) }
    await expect(collect(single(short), ['w'])).rejects.toThrow(/model\.safetensors ends inside 'w': \d+ of 2000000 bytes came/)
  })
})

describe('readSafetensorsIndex', () => {
  const text = (map: unknown) => JSON.stringify({ weight_map: map })
  it.each([
    ['text that is not JSON', '{', 'it is not JSON'],
    ['no weight_map', '{"metadata":{}}', 'it has no weight_map'],
    ['an empty one', text({}), 'its weight_map is empty'],
    ['a path', text({ a: '../../etc/model.safetensors' }), `it puts 'a' into "../../etc/model.safetensors"`],
    ['a folder', text({ a: 'x\\model.safetensors' }), 'no safetensors file of the same folder'],
    ['another kind of file', text({ a: 'pytorch_model.bin' }), 'no safetensors file of the same folder'],
    ['a shard that it skips', text({ a: 'model-00001-of-00003.safetensors', b: 'model-00003-of-00003.safetensors' }), 'it names 2 of 3 shards; model-00002-of-00003.safetensors is missing'],
    ['a last shard that it skips', text({ a: 'model-00001-of-99999.safetensors' }), 'it names 1 of 99999 shards; model-00002-of-99999.safetensors is missing'],
  ])('refuses %s', (_, input, sentence) => {
    expect(() => readSafetensorsIndex(input)).toThrow(PlaygroundError)
    expect(() => readSafetensorsIndex(input)).toThrow(sentence)
  })
})
