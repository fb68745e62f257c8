/** Pictures of all kinds: found, measured, made small, and never mistaken for text or numbers. */

import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { imagesAsJson, takeImages } from './images'
import { encodePng } from './png'

/** RGB of a PNG that we wrote, read by Node's zlib: [height × width × 3]. */
function decodePng(bytes: Uint8Array): { width: number; height: number; rgb: number[] } {
  const file = Buffer.from(bytes)
  expect(file.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  const length = file.readUInt32BE(33)
  expect(file.subarray(37, 41).toString('latin1')).toBe('IDAT')
  // Node checks Adler-32 here.
  const lines = inflateSync(file.subarray(41, 41 + length))
  const rgb = Array.from({ length: height }, (_, row) => [...lines.subarray(row * (width * 3 + 1) + 1, (row + 1) * (width * 3 + 1))]).flat()
  return { width, height, rgb }
}

const rows = <T>(height: number, width: number, pixel: (row: number, column: number) => T) =>
  Array.from({ length: height }, (_, row) => Array.from({ length: width }, (__, column) => pixel(row, column)))
const only = (value: unknown, name = '') => {
  const taken = takeImages(value, name)
  expect(taken.images).toHaveLength(1)
  return { ...taken, image: taken.images[0] as (typeof taken.images)[number] }
}
/** 1×1 PNG of the recorded typed transcript. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

describe('encodePng', () => {
  it('writes what zlib reads, with CRCs that a PNG of another hand has', () => {
    const rgb = Uint8Array.from([255, 0, 0, 0, 255, 0])
    expect(decodePng(encodePng(rgb, 2, 1))).toEqual({ width: 2, height: 1, rgb: [...rgb] })
    // IEND is the same in every PNG file.
    expect([...encodePng(rgb, 2, 1).slice(-12)]).toEqual([...Buffer.from(DOT, 'base64').subarray(-12)])
  })

  it('splits what is longer than a stored block', () => {
    const rgb = Uint8Array.from({ length: 200 * 150 * 3 }, (_, i) => i % 251)
    expect(decodePng(encodePng(rgb, 200, 150)).rgb).toEqual([...rgb])
  })
})

describe('pixels as arrays', () => {
  it('nested [h][w][3] under a picture’s name, small: every pixel as it was', () => {
    const { image, value } = only({ view: rows(10, 12, (row, column) => [row, column, 200]) })
    expect(value).toEqual({ view: '[image 12×10, not shown to a text-only model]' })
    expect(image).toMatchObject({ name: 'view', width: 12, height: 10, mime: 'image/png' })
    expect(decodePng(image.bytes)).toEqual({ width: 12, height: 10, rgb: rows(10, 12, (row, column) => [row, column, 200]).flat(2) })
  })

  it('a screenshot of 1280×720 is averaged down to 320×180, its size told as it was', () => {
    const { image, value } = only({ screenshot: rows(720, 1280, (row, column) => [row % 4 === 0 ? 40 : 0, column < 640 ? 255 : 0, 9]) })
    expect(value).toEqual({ screenshot: '[image 1280×720, not shown to a text-only model]' })
    expect(image).toMatchObject({ width: 1280, height: 720 })
    const { width, height, rgb } = decodePng(image.bytes)
    expect([width, height]).toEqual([320, 180])
    expect(rgb.slice(0, 3)).toEqual([10, 255, 9])
    expect(rgb.slice(-3)).toEqual([10, 0, 9])
  })

  it('large ones are known without a name, and names by their words', () => {
    expect(only({ obs: rows(84, 84, () => [0, 0, 9]) }).value).toEqual({ obs: '[image 84×84, not shown to a text-only model]' })
    for (const name of ['screenImage', 'camera_images', 'RGB', 'last-frame']) expect(only({ [name]: rows(8, 8, () => [9, 9, 255]) }).image.name).toBe(name)
    expect(takeImages({ preview_count: rows(8, 8, () => 255) }).images).toEqual([])
  })

  it('grey and flat ones are read under a picture’s name', () => {
    expect(decodePng(only({ pixels: rows(8, 8, () => 190) }).image.bytes).rgb.slice(0, 3)).toEqual([190, 190, 190])
    const flat = { screen: rows(8, 9, (row) => [row, 0, 201]).flat(2), screen_shape: [8, 9, 3] }
    const { image, value } = only(flat)
    expect(value).toMatchObject({ screen: '[image 9×8, not shown to a text-only model]', screen_shape: [8, 9, 3] })
    expect(decodePng(image.bytes).rgb.slice(-3)).toEqual([7, 0, 201])
  })

  it.each<[string, unknown]>([
    ['numbers that are no bytes', { screenshot: rows(10, 10, () => [0.5, 1, 2]) }],
    ['numbers above 255', { screenshot: rows(10, 10, () => [256, 1, 2]) }],
    ['rows of unequal length', { screenshot: [...rows(9, 10, () => [1, 2, 3]), [[1, 2, 3]]] }],
    ['a board', { grid: rows(10, 10, () => 1) }],
    ['a table of numbers', { dataframe: rows(9, 8, (row) => row * 28) }],
    ['a table, deeper down', { result: { data: { dataframe: rows(9, 8, (row) => row * 28) } } }],
    ['a board that is called a screen', { screen: rows(10, 10, (row) => row) }],
    ['a board that is called a screen, with its shape', { screen: rows(10, 10, (row) => row).flat(), screen_shape: [10, 10] }],
    ['planes of a board', { board: rows(8, 8, () => [0, 1, 0]) }],
    ['planes of a board, in bytes', { board: rows(8, 8, () => [0, 255, 0]) }],
    ['a shape that does not fit', { screen: [1, 2, 3], screen_shape: [2, 2, 3] }],
    ['too small', { screenshot: rows(3, 3, () => [1, 2, 3]) }],
    ['RAM', { screen: [1, 2, 3, 4], screen_shape: [4] }],
    ['pixels of different kinds', { screenshot: rows(10, 10, (row) => (row === 9 ? 'x' : [1, 2, 3])) }],
  ])('%s: stay what they are', (_, value) => {
    expect(takeImages(value)).toEqual({ value, images: [] })
  })
})

describe('base64 files', () => {
  it('a PNG keeps its bytes, as a data URL, too', () => {
    for (const text of [DOT, `data:image/png;base64,${DOT}`]) {
      const { image, value } = only({ image: text })
      expect(value).toEqual({ image: '[image 1×1, not shown to a text-only model]' })
      expect(image).toMatchObject({ width: 1, height: 1, mime: 'image/png' })
      expect(imagesAsJson([image])).toEqual([{ name: 'image', width: 1, height: 1, mime: 'image/png', data: DOT }])
    }
  })

  it('the size is read from JPEG, GIF and WebP headers', () => {
    const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 11, 8, 0, 20, 0, 30, 1, 1, 0x11, 0, ...Array<number>(60).fill(0)]
    const gif = [...Buffer.from('GIF89a'), 30, 0, 20, 0, ...Array<number>(60).fill(0)]
    const webp = [...Buffer.from('RIFF0000WEBPVP8X'), 10, 0, 0, 0, 0, 0, 0, 0, 29, 0, 0, 19, 0, 0, ...Array<number>(40).fill(0)]
    for (const [mime, bytes] of [
      ['image/jpeg', jpeg],
      ['image/gif', gif],
      ['image/webp', webp],
    ] as const) {
      expect(only({ camera_image: Buffer.from(bytes).toString('base64') }).image).toMatchObject({ mime, width: 30, height: 20 })
    }
  })

  it('MCP’s image content is found by its type', () => {
    const { image, value } = only({
      content: [
        { type: 'image', data: DOT, mimeType: 'image/png' },
        { type: 'text', text: 'a' },
      ],
    })
    expect(value).toMatchObject({ content: [{ data: '[image 1×1, not shown to a text-only model]' }, { text: 'a' }] })
    expect(image.width).toBe(1)
  })

  it('what is damaged or too large is said, and nothing is kept', () => {
    expect(takeImages({ image: `iVBORw0KGgo${'A'.repeat(80)}!` })).toEqual({
      value: { image: '[image that could not be read]' },
      images: [],
    })
    const huge = Buffer.concat([Buffer.from(DOT, 'base64').subarray(0, 40), Buffer.alloc(1_500_000)]).toString('base64')
    expect(takeImages({ image: huge })).toEqual({ value: { image: '[image 1×1 of 1.5 MB, too large to keep]' }, images: [] })
  })

  it('text that only begins like a picture stays text', () => {
    const text = `/9j/ is how a JPEG begins, said the ${'long '.repeat(30)} sentence`
    expect(takeImages({ message: text })).toEqual({ value: { message: text }, images: [] })
  })
})
