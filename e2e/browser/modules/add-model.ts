/** The smallest ONNX model there is, written byte by byte: c = a + b, both float32 [n]. For tests of the harness itself. */

/** ModelProto of one Add node, opset 17. Field numbers are those of onnx.proto3. */
export function addModel(n: number): Uint8Array {
  const node = [...text(1, 'a'), ...text(1, 'b'), ...text(2, 'c'), ...text(4, 'Add')]
  const graph = [
    ...message(1, node),
    ...text(2, 'add'),
    ...message(11, valueInfo('a', n)),
    ...message(11, valueInfo('b', n)),
    ...message(12, valueInfo('c', n)),
  ]
  return Uint8Array.from([...integer(1, 8), ...message(7, graph), ...message(8, integer(2, 17))])
}

/** ValueInfoProto { name, type { tensor_type { elem_type FLOAT, shape { dim { n } } } } } */
function valueInfo(name: string, n: number): number[] {
  const tensor = [...integer(1, 1), ...message(2, message(1, integer(1, n)))]
  return [...text(1, name), ...message(2, message(1, tensor))]
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]
}

function integer(field: number, value: number): number[] {
  return [...varint(field << 3), ...varint(value)]
}

function message(field: number, bytes: number[]): number[] {
  return [...varint((field << 3) | 2), ...varint(bytes.length), ...bytes]
}

function text(field: number, value: string): number[] {
  return message(field, [...new TextEncoder().encode(value)])
}
