/** Writes a WebAssembly module: functions of i32, f32 and v128 over one imported memory. Only what our kernels need of the format. */

/** Instructions that leave their value, if any, on the stack. */
export type Code = readonly number[]
/** A local variable or parameter. */
export interface Local {
  readonly index: number
  readonly type: Type
}
export type Type = keyof typeof TYPES

const TYPES = { i32: 0x7f, f32: 0x7d, v128: 0x7b } as const
const EMPTY = 0x40

const unsigned = (value: number): number[] => {
  const out: number[] = []
  for (let rest = value; ; ) {
    const low = rest % 128
    rest = Math.floor(rest / 128)
    out.push(rest > 0 ? low | 128 : low)
    if (rest === 0) return out
  }
}

const signed = (value: number): number[] => {
  const out: number[] = []
  for (let rest = value | 0; ; ) {
    const low = rest & 127
    rest >>= 7
    const done = (rest === 0 && !(low & 64)) || (rest === -1 && (low & 64) !== 0)
    out.push(done ? low : low | 128)
    if (done) return out
  }
}

const floatBytes = (value: number): number[] => [...new Uint8Array(Float32Array.of(value).buffer)]
const simd = (op: number): number[] => [0xfd, ...unsigned(op)]
const unary = (op: Code) => (a: Code): Code => [...a, ...op]
const binary = (op: Code) => (a: Code, b: Code): Code => [...a, ...b, ...op]
const at = (op: Code, align: number) => (address: Code, offset = 0): Code => [...address, ...op, align, ...unsigned(offset)]

export const get = (local: Local): Code => [0x20, ...unsigned(local.index)]
export const set = (local: Local, value: Code): Code => [...value, 0x21, ...unsigned(local.index)]

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  add: binary([0x6a]),
  sub: binary([0x6b]),
  mul: binary([0x6c]),
  and: binary([0x71]),
  ltS: binary([0x48]),
}

export const f32 = {
  const: (value: number): Code => [0x43, ...floatBytes(value)],
  add: binary([0x92]),
  mul: binary([0x94]),
  div: binary([0x95]),
  max: binary([0x97]),
  sqrt: unary([0x91]),
  fromInt: unary([0xb2]),
  load: at([0x2a], 2),
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, 0x38, 2, ...unsigned(offset)],
}

/** Four floats. */
export const f32x4 = {
  const: (value: number): Code => [...simd(0x0c), ...Array.from({ length: 4 }, () => floatBytes(value)).flat()],
  splat: unary(simd(0x13)),
  lane: (a: Code, lane: number): Code => [...a, ...simd(0x1f), lane],
  add: binary(simd(0xe4)),
  sub: binary(simd(0xe5)),
  mul: binary(simd(0xe6)),
  div: binary(simd(0xe7)),
  /** The second where it is smaller, or larger, than the first; else the first: one instruction on every machine, which min and max are not. */
  min: binary(simd(0xea)),
  max: binary(simd(0xeb)),
  neg: unary(simd(0xe1)),
  load: at(simd(0x00), 2),
  /** One float of memory in all four. */
  loadSplat: at(simd(0x09), 2),
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, ...simd(0x0b), 2, ...unsigned(offset)],
  /** Bytes of a and b by their places, b's from 16 on. */
  shuffle: (a: Code, b: Code, words: readonly [number, number, number, number]): Code => [...a, ...b, ...simd(0x0d), ...words.flatMap((w) => [0, 1, 2, 3].map((byte) => 4 * w + byte))],
}

/** Four integers in the same register. */
export const i32x4 = {
  const: (value: number): Code => [...simd(0x0c), ...Array.from({ length: 4 }, () => [value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255]).flat()],
  add: binary(simd(0xae)),
  shl: (a: Code, bits: number): Code => [...a, ...i32.const(bits), ...simd(0xab)],
}

/** One function while it is written. */
export class FunctionWriter {
  private readonly locals: Type[] = []
  readonly params: Local[]

  constructor(
    readonly types: readonly Type[],
    readonly result: Type | null = null,
  ) {
    this.params = types.map((type, index) => ({ index, type }))
  }

  local(type: Type): Local {
    this.locals.push(type)
    return { index: this.types.length + this.locals.length - 1, type }
  }

  localsOf(type: Type, count: number): Local[] {
    return Array.from({ length: count }, () => this.local(type))
  }

  /** `body` once for each i = 0, step, 2·step … below `end`; not once when end ≤ 0. */
  loop(counter: Local, end: Code, step: number, body: Code): Code {
    const next = set(counter, i32.add(get(counter), i32.const(step)))
    const inside = [0x03, EMPTY, ...body, ...next, ...i32.ltS(get(counter), end), 0x0d, 0, 0x0b]
    return [...set(counter, i32.const(0)), ...when(i32.ltS(get(counter), end), inside)]
  }

  /** Bytes of the function, its size before it. */
  encode(body: Code): number[] {
    const declared = [...unsigned(this.locals.length), ...this.locals.flatMap((type) => [1, TYPES[type]])]
    const bytes = [...declared, ...body, 0x0b]
    return [...unsigned(bytes.length), ...bytes]
  }
}

export const when = (condition: Code, then: Code): Code => [...condition, 0x04, EMPTY, ...then, 0x0b]

export interface WrittenFunction {
  /** Name of the export. */
  name: string
  writer: FunctionWriter
  body: Code
}

/** A module of `functions` that imports memory 'env.memory', shared between threads or not. */
export function writeModule(functions: readonly WrittenFunction[], shared: boolean, maximumPages: number): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: readonly number[]): number[] => [id, ...unsigned(content.length), ...content]
  const list = (items: readonly (readonly number[])[]): number[] => [...unsigned(items.length), ...items.flat()]
  const name = (text: string): number[] => [...unsigned(text.length), ...new TextEncoder().encode(text)]
  const types = functions.map(({ writer: { types: params, result } }) => [0x60, ...list(params.map((type) => [TYPES[type]])), ...list(result ? [[TYPES[result]]] : [])])
  const limits = shared ? [3, 0, ...unsigned(maximumPages)] : [1, 0, ...unsigned(maximumPages)]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...section(2, list([[...name('env'), ...name('memory'), 2, ...limits]])),
    ...section(3, list(functions.map((_, i) => unsigned(i)))),
    ...section(7, list(functions.map(({ name: exported }, i) => [...name(exported), 0, ...unsigned(i)]))),
    ...section(10, list(functions.map(({ writer, body }) => writer.encode(body)))),
  ])
}
