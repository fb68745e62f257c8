/** Dimensions that may be symbolic: a number, or a product such as '4*tokens' with one canonical spelling. */

/** A size known now (number) or a canonical monomial of symbols (string). */
export type Dim = number | string
export type Shape = readonly Dim[]

interface Monomial {
  coefficient: number
  symbols: string[]
}

function parse(dim: Dim): Monomial {
  if (typeof dim === 'number') return { coefficient: dim, symbols: [] }
  let coefficient = 1
  const symbols: string[] = []
  for (const factor of dim.split('*')) {
    if (/^\d+$/.test(factor)) coefficient *= Number(factor)
    else symbols.push(factor)
  }
  return { coefficient, symbols: symbols.sort() }
}

function spell({ coefficient, symbols }: Monomial): Dim {
  if (symbols.length === 0) return coefficient
  return (coefficient === 1 ? symbols : [String(coefficient), ...symbols]).join('*')
}

/** The product of dims, e.g. product([4, 'tokens']) = '4*tokens'. */
export function product(dims: Shape): Dim {
  const out: Monomial = { coefficient: 1, symbols: [] }
  for (const dim of dims) {
    const { coefficient, symbols } = parse(dim)
    out.coefficient *= coefficient
    out.symbols.push(...symbols)
  }
  out.symbols.sort()
  return spell(out)
}

/** a / b where b divides a exactly, else null. */
export function quotient(a: Dim, b: Dim): Dim | null {
  const x = parse(a)
  const y = parse(b)
  if (y.coefficient === 0 || x.coefficient % y.coefficient !== 0) return null
  const symbols = [...x.symbols]
  for (const symbol of y.symbols) {
    const at = symbols.indexOf(symbol)
    if (at < 0) return null
    symbols.splice(at, 1)
  }
  return spell({ coefficient: x.coefficient / y.coefficient, symbols })
}

/** The shape as people write it: [2, 4*tokens]. */
export function show(shape: Shape): string {
  return `[${shape.join(', ')}]`
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, i) => dim === b[i])
}

/** NumPy's broadcasting of two shapes, or null when they do not fit. A symbol fits itself and 1 only. */
export function broadcast(a: Shape, b: Shape): Dim[] | null {
  const rank = Math.max(a.length, b.length)
  const out: Dim[] = []
  for (let i = 0; i < rank; i++) {
    const x = a[a.length - rank + i] ?? 1
    const y = b[b.length - rank + i] ?? 1
    if (x === y || y === 1) out.push(x)
    else if (x === 1) out.push(y)
    else return null
  }
  return out
}

/** A dim as a number; throws when a symbol has no value. */
export function evaluate(dim: Dim, values: Readonly<Record<string, number>>): number {
  const { coefficient, symbols } = parse(dim)
  return symbols.reduce((product, symbol) => {
    const value = values[symbol]
    if (value === undefined) throw new Error(`The dimension ${symbol} has no value.`)
    return product * value
  }, coefficient)
}
