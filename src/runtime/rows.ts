/** Rows of float matrices on the host, by their numbers. */

/** Rows `places` of `matrix` [rows, width], in that order: [places, width]. */
export function gatherRows(matrix: Float32Array, width: number, places: readonly number[]): Float32Array {
  const out = new Float32Array(places.length * width)
  places.forEach((place, row) => out.set(matrix.subarray(place * width, (place + 1) * width), row * width))
  return out
}
