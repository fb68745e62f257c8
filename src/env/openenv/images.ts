/**
 * Takes the pictures out of an observation: base64 files, and pixels as nested or flat arrays of integers. Each becomes bytes that a
 * page can show, and a placeholder in words where it stood. Never throws: what is no picture stays what it was.
 */

import type { EnvironmentImage } from '../../core/environment'
import type { Fields } from './fields'
import { encodePng } from './png'

/** A field with one of these words in its name holds a picture, if what it holds can be one. */
const IMAGE_WORDS = ['screenshot', 'image', 'pixel', 'frame', 'screen', 'png', 'camera', 'render', 'view', 'rgb']
/** Whether a name says so by a whole word: screenImage and camera_images, but not dataframe. */
function namesImage(name: string): boolean {
  const words = name.replace(/([a-z])(?=[A-Z])/g, '$1 ').toLowerCase().split(/[^a-z]+/)
  return words.some((word) => IMAGE_WORDS.includes(word) || IMAGE_WORDS.includes(word.replace(/s$/, '')))
}
/** Heads of base64 files, by type. */
const HEADS: readonly [RegExp, EnvironmentImage['mime']][] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR/, 'image/webp'],
]
/** Pixels are averaged down until no side is longer: they are kept for every turn of every episode. */
const LONGEST_SIDE = 320
/** A file larger than this, bytes, is named but not kept: we cannot make it smaller without a codec. */
const LARGEST_FILE = 1 << 20
/** What stands deeper in an observation is cut off: no environment nests so, and reading it could exhaust the stack. */
const DEEPEST = 48
/** Smallest side of an array that may be a picture. */
const SMALLEST_SIDE = 8
/** Boards and tables are no larger than this, or hold no value as high as BRIGHT; a picture is larger, or does. */
const LARGEST_BOARD = 40
const BRIGHT = 128
/** Triples of bytes with sides of at least this are a picture whatever their name. */
const SURELY_PICTURE = 64

export interface WithoutImages {
  /** The value with placeholders for its pictures. */
  value: unknown
  images: EnvironmentImage[]
}

/** The value without its pictures, and the pictures. Nests of more than 48 levels are cut off in words. */
export function takeImages(value: unknown, name = ''): WithoutImages {
  const images: EnvironmentImage[] = []
  return { value: walk(value, name, 0, images, null), images }
}

function walk(value: unknown, name: string, depth: number, images: EnvironmentImage[], siblings: Fields | null): unknown {
  if (typeof value === 'string') return fromBase64(value, name, images)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEEPEST) return '[nested too deeply]'
  if (Array.isArray(value)) {
    const picture = fromPixels(value, name, siblings)
    if (picture === 'no') return value.map((item) => walk(item, name, depth + 1, images, null))
    images.push(picture)
    return placeholder(picture.width, picture.height)
  }
  const fields = value as Fields
  // MCP's image content: {type: 'image', data, mimeType}. Its data may have any head.
  const named = fields['type'] === 'image' ? 'image' : null
  return Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, walk(item, named ?? key, depth + 1, images, fields)]))
}

/** What a text-only model reads in a picture's place. */
export function placeholder(width: number, height: number): string {
  return `[image ${width}×${height}, not shown to a text-only model]`
}

function fromBase64(text: string, name: string, images: EnvironmentImage[]): string {
  const plain = text.startsWith('data:image/') ? text.slice(text.indexOf(',') + 1) : text
  const mime = HEADS.find(([head]) => head.test(plain))?.[1]
  if (mime === undefined || plain.length < 64) return text
  // A text may begin so by chance; a file has no blanks in it.
  if (!namesImage(name) && /\s/.test(plain.slice(0, 200))) return text
  if ((plain.length * 3) / 4 > LARGEST_FILE) {
    const size = sizeOf(bytesOf(plain.slice(0, 65_536)) ?? new Uint8Array(), mime)
    const what = size === null ? 'image' : `image ${size.width}×${size.height}`
    return `[${what} of ${((plain.length * 3) / 4e6).toFixed(1)} MB, too large to keep]`
  }
  const bytes = bytesOf(plain)
  const size = bytes === null ? null : sizeOf(bytes, mime)
  if (bytes === null || size === null) return '[image that could not be read]'
  images.push({ name, ...size, mime, bytes })
  return placeholder(size.width, size.height)
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    const text = atob(base64)
    const bytes = new Uint8Array(text.length)
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
    return bytes
  } catch {
    return null
  }
}

/** Width and height as the file's header says, or null when it does not. */
export function sizeOf(bytes: Uint8Array, mime: EnvironmentImage['mime']): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const read = (width: number, height: number) => (width > 0 && height > 0 ? { width, height } : null)
  if (mime === 'image/png') return bytes.length < 24 ? null : read(view.getUint32(16), view.getUint32(20))
  if (mime === 'image/gif') return bytes.length < 10 ? null : read(view.getUint16(6, true), view.getUint16(8, true))
  if (mime === 'image/webp') return webpSize(view)
  return jpegSize(view)
}

/** From the frame header among JPEG's segments. */
function jpegSize(view: DataView): { width: number; height: number } | null {
  let at = 2
  while (at + 9 < view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    at += 2 + view.getUint16(at + 2)
  }
  return null
}

function webpSize(view: DataView): { width: number; height: number } | null {
  if (view.byteLength < 30) return null
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)))
  const three = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1
  if (kind === 'VP8X') return { width: three(24), height: three(27) }
  if (kind === 'VP8 ') return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  if (kind !== 'VP8L') return null
  const bits = view.getUint32(21, true)
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
}

interface Pixels {
  width: number
  height: number
  /** Value of a channel 0-2 at a pixel, or what stood there. */
  at: (row: number, column: number, channel: number) => unknown
}

/** A picture of pixels, or 'no' when the array is none. */
function fromPixels(value: readonly unknown[], name: string, siblings: Fields | null): EnvironmentImage | 'no' {
  const pixels = nested(value, name) ?? flat(value, name, siblings)
  if (pixels === null || !isPictureLike(pixels)) return 'no'
  const { width, height } = pixels
  const by = Math.max(1, Math.ceil(Math.max(width, height) / LONGEST_SIDE))
  const [columns, rows] = [Math.ceil(width / by), Math.ceil(height / by)]
  const rgb = new Uint8Array(columns * rows * 3)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      for (let channel = 0; channel < 3; channel++) {
        const mean = average(pixels, row * by, column * by, by, channel)
        if (mean === null) return 'no'
        rgb[(row * columns + column) * 3 + channel] = mean
      }
    }
  }
  return { name, width, height, mime: 'image/png', bytes: encodePng(rgb, columns, rows) }
}

/** Whether pixels under a picture's name are one, and no board or table. */
function isPictureLike({ width, height, at }: Pixels): boolean {
  if (Math.min(width, height) > LARGEST_BOARD) return true
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      for (let channel = 0; channel < 3; channel++) if (Number(at(row, column, channel)) >= BRIGHT) return true
    }
  }
  return false
}

/** Mean of a square of pixels; null when one of its values is no byte. */
function average(pixels: Pixels, top: number, left: number, by: number, channel: number): number | null {
  let [sum, count] = [0, 0]
  for (let row = top; row < Math.min(top + by, pixels.height); row++) {
    for (let column = left; column < Math.min(left + by, pixels.width); column++) {
      const value = pixels.at(row, column, channel)
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 255) return null
      sum += value
      count++
    }
  }
  return Math.round(sum / count)
}

/** [height][width][3 or 4] or [height][width] under a picture's name; large ones of three or four channels under any. */
function nested(value: readonly unknown[], name: string): Pixels | null {
  const first: unknown = value[0]
  if (value.length < SMALLEST_SIDE || !Array.isArray(first) || first.length < SMALLEST_SIDE) return null
  const rows = value as readonly (readonly unknown[])[]
  if (!rows.every((row) => Array.isArray(row) && row.length === first.length)) return null
  const size = { width: first.length, height: rows.length }
  const pixel: unknown = first[0]
  if (Array.isArray(pixel)) {
    if (pixel.length !== 3 && pixel.length !== 4) return null
    if (!namesImage(name) && Math.min(size.width, size.height) < SURELY_PICTURE) return null
    return { ...size, at: (row, column, channel) => (rows[row]?.[column] as readonly unknown[] | undefined)?.[channel] }
  }
  if (!namesImage(name)) return null
  return { ...size, at: (row, column) => rows[row]?.[column] }
}

/** A flat list under a picture's name beside `NAME_shape`: [height, width, 3] or [height, width]. */
function flat(value: readonly unknown[], name: string, siblings: Fields | null): Pixels | null {
  const shape = siblings?.[`${name}_shape`]
  if (!namesImage(name) || !Array.isArray(shape) || (shape.length !== 2 && shape.length !== 3)) return null
  const [height, width, channels = 1] = shape as unknown[]
  const isSide = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value)
  if (!isSide(height) || !isSide(width) || (channels !== 1 && channels !== 3 && channels !== 4)) return null
  if (height * width * channels !== value.length || value.length === 0) return null
  return { width, height, at: (row, column, channel) => value[(row * width + column) * channels + (channels === 1 ? 0 : channel)] }
}

/** Pictures as plain JSON, for a scene: base64 without the head of a data URL. */
export function imagesAsJson(
  images: readonly EnvironmentImage[],
): { name: string; width: number; height: number; mime: string; data: string }[] {
  return images.map(({ name, width, height, mime, bytes }) => {
    let text = ''
    for (let i = 0; i < bytes.length; i += 32_768) text += String.fromCharCode(...bytes.subarray(i, i + 32_768))
    return { name, width, height, mime, data: btoa(text) }
  })
}
