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
/** Of those that this TRL takes (0.22 to 0.31) the newest that is built for the same torch and takes this transformers and OpenEnv's client. */
export const VLLM = '0.27.1'

/** Lines of requirements.txt. */
export function requirements(openenv: boolean): string[] {
  const packages = openenv ? { ...PACKAGES, openenv: OPENENV } : PACKAGES
  return Object.entries(packages).map(([name, version]) => `${name}==${version}`)
}

/** Lines of requirements-vllm.txt. */
export function vllmRequirements(openenv: boolean): string[] {
  return [...requirements(openenv), `vllm==${VLLM}`]
}
