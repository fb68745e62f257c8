/** Reads the protocol-buffer wire format back into fields, for tests of what was written. */

export interface Field {
  field: number
  /** Of varints; 0n otherwise. */
  value: bigint
  /** Of length-delimited and fixed fields; empty otherwise. */
  bytes: Uint8Array
}

/** The fields of one message, in order. Throws on a truncated or unknown field. */
export function fields(bytes: Uint8Array): Field[] {
  const out: Field[] = []
  let at = 0
  const varint = (): bigint => {
    let [value, shift] = [0n, 0n]
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('The message ends inside a number.')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
      shift += 7n
    }
  }
  while (at < bytes.length) {
    const key = Number(varint())
    const [field, type] = [key >> 3, key & 7]
    if (type === 0) out.push({ field, value: varint(), bytes: new Uint8Array() })
    else if (type === 2 || type === 5) {
      const length = type === 5 ? 4 : Number(varint())
      if (at + length > bytes.length) throw new Error('The message ends inside a field.')
      out.push({ field, value: 0n, bytes: bytes.subarray(at, at + length) })
      at += length
    } else throw new Error(`Wire type ${type} is not read here.`)
  }
  return out
}

/** The strings of one field. */
export function texts(list: readonly Field[], field: number): string[] {
  return list.filter((f) => f.field === field).map((f) => new TextDecoder().decode(f.bytes))
}
