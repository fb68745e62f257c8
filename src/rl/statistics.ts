/** Means and spreads that leave out missing values, as torch.nanmean and TRL's nanstd do. */

/** The values that are there: neither null nor NaN. */
export function present(values: Iterable<number | null>): number[] {
  const out: number[] = []
  for (const value of values) if (value !== null && !Number.isNaN(value)) out.push(value)
  return out
}

/** Mean of the present values; null without any. */
export function mean(values: Iterable<number | null>): number | null {
  const there = present(values)
  return there.length === 0 ? null : sum(there) / there.length
}

/**
 * Sample standard deviation of the present values with Bessel's correction: √(Σ(x − x̄)² / (n − 1)), i.e. ddof = 1 as
 * in torch.std. null with fewer than two values, where it is undefined. Exactly 0 when all values are equal.
 */
export function standardDeviation(values: Iterable<number | null>): number | null {
  const there = present(values)
  if (there.length < 2) return null
  // The mean of equal numbers may differ from them in the last bit; a group without a spread must come out as exactly 0.
  if (there.every((value) => value === there[0])) return 0
  const centre = sum(there) / there.length
  return Math.sqrt(sum(there.map((value) => (value - centre) ** 2)) / (there.length - 1))
}

/** Sum in the order given, so that the same values always give the same bits. */
export function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}

/** Smallest present value; null without any. Safe for long lists. */
export function minimum(values: Iterable<number | null>): number | null {
  return present(values).reduce<number | null>((best, value) => (best === null || value < best ? value : best), null)
}

/** Largest present value; null without any. Safe for long lists. */
export function maximum(values: Iterable<number | null>): number | null {
  return present(values).reduce<number | null>((best, value) => (best === null || value > best ? value : best), null)
}
