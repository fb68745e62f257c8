/** The versions that the exported folder asks for: those that the reference checks run it with. */

import type { RunConfig } from '../../core/config'
import { singleSpecs } from '../../core/environment-spec'
import { NEEDS_SOLUTION } from '../../core/reward-funcs'

export const PACKAGES: Readonly<Record<string, string>> = {
  torch: '2.13.0',
  transformers: '5.24.0',
  peft: '0.21.2',
  trl: '1.16.0',
  accelerate: '1.15.0',
  datasets: '5.2.0',
  safetensors: '0.8.0',
}
/** For OpenEnv servers. */
export const OPENENV = '0.10.0'
/** Of those that this TRL takes (0.22 to 0.31) the newest that is built for the same torch and takes this transformers and OpenEnv's client. */
export const VLLM = '0.27.1'

/** What TRL's own reward functions compare mathematics with. */
export const MATH_VERIFY = 'math-verify[antlr4_13_2]==0.9.0'

/** Lines of requirements.txt. */
export function requirements({ environment, grpo }: Pick<RunConfig, 'environment' | 'grpo'>): string[] {
  const packages = singleSpecs(environment).some(({ kind }) => kind === 'openenv') ? { ...PACKAGES, openenv: OPENENV } : PACKAGES
  const compares = grpo.reward_funcs.some(({ name }) => NEEDS_SOLUTION.includes(name))
  return [...Object.entries(packages).map(([name, version]) => `${name}==${version}`), ...(compares ? [MATH_VERIFY] : [])]
}

/** Lines of requirements-vllm.txt. */
export function vllmRequirements(config: Pick<RunConfig, 'environment' | 'grpo'>): string[] {
  return [...requirements(config), `vllm==${VLLM}`]
}
