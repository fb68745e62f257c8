/** Compresses the pixels of a PNG file as well as they can be: our own are written uncompressed. */

import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** The same picture, smaller. */
export function deflatePng(png: Uint8Array): Buffer {
  const bytes = Buffer.from(png)
  const chunks: Buffer[] = []
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at)
    const isPixels = bytes.toString('latin1', at + 4, at + 8) === 'IDAT'
    chunks.push(isPixels ? chunk('IDAT', deflateSync(inflateSync(bytes.subarray(at + 8, end)), { level: 9 })) : bytes.subarray(at, end + 4))
    at = end + 4
  }
  return Buffer.concat([bytes.subarray(0, 8), ...chunks])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
