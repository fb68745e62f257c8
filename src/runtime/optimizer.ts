/** What becomes of gradients: they are added up, measured, and move the parameters by AdamW. By onnxruntime's graphs, or here where arrays are the host's. */

import type { DeviceTensor } from './device'
import { hostFloats } from './device'
import { type LoadedModel, scalar } from './model'
import type { Parameters } from './parameters'

/** AdamW's numbers for one step; `clip` multiplies the gradient. */
export interface AdamScalars {
  clip: number
  /** 1 − lr · weight_decay */
  decay: number
  beta1: number
  one_minus_beta1: number
  beta2: number
  one_minus_beta2: number
  /** lr / (1 − β1ᵗ) */
  step_size: number
  /** √(1 − β2ᵗ) */
  bias2: number
  epsilon: number
}

/** Over the flat vectors of `Parameters`. */
export interface Optimizer {
  /** Adds the part that a micro-batch has written to the gradient. */
  accumulate(): Promise<void>
  /** Σ gradient² */
  sumOfSquares(): Promise<number>
  /** Moves parameters and moments. */
  step(scalars: AdamScalars): Promise<void>
}

/** By the artifacts 'accumulate', 'grad_norm' and 'adamw'. */
export class GraphOptimizer implements Optimizer {
  constructor(private readonly model: Pick<LoadedModel, 'device' | 'sessions' | 'parameters'>) {}

  async accumulate(): Promise<void> {
    const { device, sessions, parameters } = this.model
    const out = await device.run(await sessions.get('accumulate'), { sum: parameters.sum.value, part: parameters.part })
    device.free(parameters.sum.value)
    parameters.sum.value = out.sum_out as DeviceTensor
  }

  async sumOfSquares(): Promise<number> {
    const { device, sessions, parameters } = this.model
    const squares = await device.run(await sessions.get('grad_norm'), { grad: parameters.sum.value })
    device.free(...Object.values(squares))
    return hostFloats(squares.sums_of_squares).reduce((sum, x) => sum + x, 0)
  }

  async step(scalars: AdamScalars): Promise<void> {
    const { device, sessions, parameters } = this.model
    const { flat, sum, m, v } = parameters
    const numbers = Object.fromEntries(Object.entries(scalars).map(([name, value]: [string, number]) => [name, scalar(device, value)]))
    const out = await device.run(await sessions.get('adamw'), { param: flat.value, grad: sum.value, m: m.value, v: v.value, ...numbers })
    device.free(flat.value, m.value, v.value)
    flat.value = out.param_out as DeviceTensor
    m.value = out.m_out as DeviceTensor
    v.value = out.v_out as DeviceTensor
  }
}

/** In place, and without onnxruntime: where our own kernels run the layers, the vectors are arrays of this thread. */
export class HostOptimizer implements Optimizer {
  constructor(private readonly parameters: Pick<Parameters, 'flat' | 'm' | 'v' | 'sum' | 'part'>) {}

  accumulate(): Promise<void> {
    const [sum, part] = [hostFloats(this.parameters.sum.value), hostFloats(this.parameters.part)]
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (part[i] as number)
    return Promise.resolve()
  }

  sumOfSquares(): Promise<number> {
    return Promise.resolve(sumOfSquares(hostFloats(this.parameters.sum.value)))
  }

  step(scalars: AdamScalars): Promise<void> {
    const { flat, sum, m, v } = this.parameters
    adamw(hostFloats(flat.value), hostFloats(sum.value), hostFloats(m.value), hostFloats(v.value), scalars)
    return Promise.resolve()
  }
}

function sumOfSquares(values: Float32Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) * (values[i] as number)
  return sum
}

const { fround } = Math

/** The 'adamw' artifact in place and bit for bit: every operation is rounded to float32, as the graph's are. */
export function adamw(param: Float32Array, grad: Float32Array, m: Float32Array, v: Float32Array, scalars: AdamScalars): void {
  const [clip, decay, epsilon] = [fround(scalars.clip), fround(scalars.decay), fround(scalars.epsilon)]
  const [beta1, rest1, beta2, rest2] = [fround(scalars.beta1), fround(scalars.one_minus_beta1), fround(scalars.beta2), fround(scalars.one_minus_beta2)]
  const [stepSize, bias2] = [fround(scalars.step_size), fround(scalars.bias2)]
  for (let i = 0; i < param.length; i++) {
    const g = fround((grad[i] as number) * clip)
    const first = fround(fround((m[i] as number) * beta1) + fround(g * rest1))
    const second = fround(fround((v[i] as number) * beta2) + fround(fround(g * g) * rest2))
    const denominator = fround(fround(fround(Math.sqrt(second)) / bias2) + epsilon)
    m[i] = first
    v[i] = second
    param[i] = fround((param[i] as number) * decay) - fround(fround(first / denominator) * stepSize)
  }
}
