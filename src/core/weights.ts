/** Where a model's weights come from: a repository on the Hub, a folder of this site, files that a person dropped, memory in tests. */

/** Some whole rows of one tensor (a row is its last dimension; a vector is one row), widened to float32. */
export interface WeightPiece {
  name: string
  /** Elements of the tensor before this piece. */
  offset: number
  data: Float32Array
}

export interface WeightTensor {
  dims: number[]
  data: Float32Array
}

/** Most elements of a piece, unless one row is longer: 16 MB as float32. */
export const PIECE_ELEMENTS = 4 * 1024 * 1024

export interface WeightSource {
  /** Parsed config.json, unchecked. */
  config(): Promise<unknown>
  /** Shapes by their names in the safetensors header, e.g. 'model.layers.0.self_attn.q_proj.weight'. */
  tensors(): Promise<ReadonlyMap<string, readonly number[]>>
  /**
   * Every wanted tensor once, in whatever order the source has them; a tensor's pieces follow each other in order. Nothing but
   * the wanted tensors is downloaded, and never more than a few pieces are held. Throws PlaygroundError('model') for a name that
   * is missing before the first piece, and whatever goes wrong on the way.
   */
  pieces(wanted: readonly string[]): AsyncIterable<WeightPiece>
}

/** One tensor as a whole. */
export async function readTensor(source: WeightSource, name: string): Promise<WeightTensor> {
  const dims = [...((await source.tensors()).get(name) ?? [])]
  const data = new Float32Array(dims.reduce((a, b) => a * b, 1))
  for await (const piece of source.pieces([name])) data.set(piece.data, piece.offset)
  return { dims, data }
}

/** Cuts a tensor that is in memory into pieces of whole rows. */
export function* cutTensor(name: string, dims: readonly number[], data: Float32Array): Generator<WeightPiece> {
  const row = Math.max(1, dims.at(-1) ?? 1)
  const step = Math.max(1, Math.floor(PIECE_ELEMENTS / row)) * row
  for (let offset = 0; offset < data.length; offset += step) yield { name, offset, data: data.subarray(offset, Math.min(offset + step, data.length)) }
}
