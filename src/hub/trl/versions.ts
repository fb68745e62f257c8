/** The versions that the exported folder asks for: those that the reference checks run it with. */

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
/** The newest that this TRL takes. It brings the torch that it was built for. */
export const VLLM = '0.31.0'

const lines = (packages: Readonly<Record<string, string>>): string[] => Object.entries(packages).map(([name, version]) => `${name}==${version}`)

/** Lines of requirements.txt. */
export function requirements(openenv: boolean): string[] {
  return [...lines(PACKAGES), ...(openenv ? [`openenv==${OPENENV}`] : [])]
}

/** Lines of requirements-vllm.txt. */
export function vllmRequirements(openenv: boolean): string[] {
  const { torch: _, ...others } = PACKAGES
  return [`vllm==${VLLM}`, ...lines(others), ...(openenv ? [`openenv==${OPENENV}`] : [])]
}
