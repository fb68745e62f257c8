/** Writes pixels as a PNG file, uncompressed: small pictures only, and no codec is needed in the worker. */

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
/** Most bytes of a stored deflate block. */
const BLOCK = 65_535

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

function adler32(bytes: Uint8Array): number {
  let a = 1
  let b = 0
  for (const byte of bytes) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return ((b << 16) | a) >>> 0
}

const bigEndian = (value: number): number[] => [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = new Uint8Array(4 + data.length)
  body.set([...type].map((letter) => letter.charCodeAt(0)))
  body.set(data, 4)
  const out = new Uint8Array(data.length + 12)
  out.set(bigEndian(data.length))
  out.set(body, 4)
  out.set(bigEndian(crc32(body)), 4 + body.length)
  return out
}

/** zlib's format with stored blocks. */
function stored(data: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(data.length / BLOCK))
  const out = new Uint8Array(2 + blocks * 5 + data.length + 4)
  out.set([0x78, 0x01])
  let at = 2
  for (let i = 0; i < blocks; i++) {
    const part = data.subarray(i * BLOCK, (i + 1) * BLOCK)
    const { length } = part
    out.set([i === blocks - 1 ? 1 : 0, length & 0xff, length >> 8, ~length & 0xff, (~length >> 8) & 0xff], at)
    out.set(part, at + 5)
    at += 5 + length
  }
  out.set(bigEndian(adler32(data)), at)
  return out
}

/** A PNG of `rgb`, [height × width × 3] bytes. */
export function encodePng(rgb: Uint8Array, width: number, height: number): Uint8Array<ArrayBuffer> {
  const lines = new Uint8Array(height * (1 + width * 3))
  for (let row = 0; row < height; row++) lines.set(rgb.subarray(row * width * 3, (row + 1) * width * 3), row * (1 + width * 3) + 1)
  // 8 bits a channel, colour type 2: RGB.
  const header = Uint8Array.from([...bigEndian(width), ...bigEndian(height), 8, 2, 0, 0, 0])
  const parts = [Uint8Array.from(SIGNATURE), chunk('IHDR', header), chunk('IDAT', stored(lines)), chunk('IEND', new Uint8Array())]
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
