/** How sure a success rate is: the interval that belongs beside every share of a few episodes. */

/** 97.5 % quantile of the normal distribution: 95 % lie between its two sides. */
const Z = 1.959963984540054

/** Wilson's 95 % interval of a share, both ends in 0..1; [0, 1] where nothing was measured. */
export function wilson(successes: number, of: number): [low: number, high: number] {
  if (of <= 0) return [0, 1]
  const share = successes / of
  const spread = Z ** 2 / of
  const middle = (share + spread / 2) / (1 + spread)
  const half = (Z * Math.sqrt((share * (1 - share)) / of + spread / (4 * of))) / (1 + spread)
  return [Math.max(0, middle - half), Math.min(1, middle + half)]
}

/** The normal 95 % interval of a mean of `of` values with this standard deviation (ddof 1). */
export function meanInterval(mean: number, deviation: number, of: number): [low: number, high: number] {
  const half = (Z * deviation) / Math.sqrt(of)
  return [mean - half, mean + half]
}
