/** A writer for the protocol-buffer wire format, as much of it as ONNX files need. */

export class ProtoWriter {
  private bytes = new Uint8Array(1024)
  private length = 0

  /** A signed or unsigned integer field (wire type 0). Zero is written too: ONNX attributes need it. */
  int(field: number, value: number | bigint): this {
    this.key(field, 0)
    return this.varint(BigInt.asUintN(64, BigInt(value)))
  }

  /** A float field (wire type 5). */
  float(field: number, value: number): this {
    this.key(field, 5)
    this.reserve(4)
    new DataView(this.bytes.buffer).setFloat32(this.length, value, true)
    this.length += 4
    return this
  }

  string(field: number, value: string): this {
    return this.raw(field, new TextEncoder().encode(value))
  }

  /** A length-delimited field: bytes, packed numbers or a finished message. */
  raw(field: number, value: Uint8Array): this {
    this.key(field, 2)
    this.varint(BigInt(value.length))
    this.reserve(value.length)
    this.bytes.set(value, this.length)
    this.length += value.length
    return this
  }

  message(field: number, write: (writer: ProtoWriter) => void): this {
    const writer = new ProtoWriter()
    write(writer)
    return this.raw(field, writer.finish())
  }

  /** The bytes written so far. */
  finish(): Uint8Array {
    return this.bytes.slice(0, this.length)
  }

  private key(field: number, wireType: number): void {
    this.varint(BigInt(field * 8 + wireType))
  }

  private varint(value: bigint): this {
    this.reserve(10)
    let rest = value
    while (rest > 0x7fn) {
      this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.bytes[this.length++] = Number(rest)
    return this
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }
}
