/** Where a model's weights come from: a folder on a server, files that a person dropped, memory in tests. */

export interface WeightTensor {
  dims: number[]
  /** Values widened to float32. */
  data: Float32Array
}

export interface WeightSource {
  /** Parsed config.json, unchecked. */
  config(): Promise<unknown>
  /** Names as in the safetensors header, e.g. 'model.layers.0.self_attn.q_proj.weight'. */
  names(): Promise<string[]>
  /** Throws PlaygroundError('model') when the name is missing. */
  read(name: string): Promise<WeightTensor>
}
