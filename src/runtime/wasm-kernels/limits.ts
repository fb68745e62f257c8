/** Sizes that decide how the kernels work, never what comes out; tests of small models change them. */

export const limits = {
  /** Bytes of packed matrices, both ways, up to which a base is packed; a larger one stays with onnxruntime. */
  packedBytes: 512e6,
  /** Most bytes that a batch keeps between forward and backward; beyond it each layer is computed again. */
  keptBytes: 256e6,
  /** Most bytes of logits at once. */
  logitBytes: 64e6,
  /** Multiplications of a task from which on all threads take part, about 2 ms of one: others may be slow to wake. */
  sharedWork: 5e7,
}
