/** transformers.js' generate on WASM in a worker of the harness page: the peer of our sampling. */

import type { PreTrainedModel } from '@huggingface/transformers'
import type { Generated, GenerateRequest } from './ours-run'

let model: PreTrainedModel | null = null

export interface Loaded {
  version: string
  ortVersion: string
  threads: number
}

/** `folder`: address of the folder that holds the model's folder. Its files come from there alone, onnxruntime from this installation. */
export async function load({ folder, name, threads }: { folder: string; name: string; threads: number }): Promise<Loaded> {
  const [{ AutoModelForCausalLM, env }, wasm] = await Promise.all([
    import('@huggingface/transformers'),
    import('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url') as Promise<{ default: string }>,
  ])
  env.allowRemoteModels = false
  env.allowLocalModels = true
  env.useBrowserCache = false
  env.localModelPath = folder
  const onnx = env.backends.onnx as { wasm: { numThreads: number; wasmPaths: unknown }; versions: { web?: string; common: string } }
  onnx.wasm.numThreads = threads
  // The build that it takes by itself; its own address is a CDN's.
  onnx.wasm.wasmPaths = { wasm: wasm.default }
  model = await AutoModelForCausalLM.from_pretrained(name, { dtype: 'fp32', device: 'wasm', local_files_only: true })
  return { version: env.version, ortVersion: onnx.versions.web ?? onnx.versions.common, threads: onnx.wasm.numThreads }
}

/** Greedy continuations of prompts of one length, whatever the model writes. */
export async function generate({ prompts, newTokens }: GenerateRequest): Promise<Generated> {
  const { Tensor } = await import('@huggingface/transformers')
  if (!model) throw new Error('No model was loaded.')
  const length = prompts[0]?.length ?? 0
  const tensor = (values: bigint[]) => new Tensor('int64', BigInt64Array.from(values), [prompts.length, length])
  const input_ids = tensor(prompts.flat().map(BigInt))
  const attention_mask = tensor(prompts.flat().map(() => 1n))
  const from = performance.now()
  // No token of the vocabulary has this id: nothing ends early, and no score is changed to make it so.
  const request = { inputs: input_ids, attention_mask, max_new_tokens: newTokens, do_sample: false, eos_token_id: -1 }
  const out = (await model.generate(request)) as { tolist(): (bigint | number)[][] }
  const seconds = (performance.now() - from) / 1000
  return { seconds, ids: out.tolist().map((row) => row.slice(length).map(Number)) }
}

export async function unload(): Promise<void> {
  await model?.dispose()
  model = null
}
