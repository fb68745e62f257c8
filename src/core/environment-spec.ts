/** Where a run's prompts and episodes come from: plain data, as it stands in configs, links and kept runs. */

/** Names of the environments that live in the page. */
export const BUILTIN_NAMES = ['echo', 'catch', 'lane', 'guess'] as const
export type BuiltinName = (typeof BUILTIN_NAMES)[number]

/** Code written in the page, and the name in it that is called or constructed. It runs in the sandbox alone, after a person allowed it. */
export interface PageFunction {
  called: string
  code: string
}

/** Rows with a prompt each, in TRL's formats; every other column goes to reward functions and to the environment's reset. */
export type PromptSource =
  /** Rows that the page makes itself. */
  | { kind: 'builtin'; name: 'arithmetic' }
  /** Of the Hub; null: the only one, or the one that the dataset names first. */
  | { kind: 'hub'; repo: string; revision: string; config: string | null; split: string | null }
  /** Pasted or out of a file, as JSONL. `name` is for people. */
  | { kind: 'text'; name: string; text: string }

/** One environment that plays whole episodes. */
export type SingleSpec =
  | { kind: 'builtin'; name: BuiltinName }
  /** An OpenEnv server: anything a person may paste (ws, wss, http, https, host:port). */
  | { kind: 'openenv'; url: string }
  /** A class written in the page, TRL's environment_factory contract: reset, and a tool for every other public method. */
  | ({ kind: 'custom' } & PageFunction)
  /** No environment: a prompt, one answer, reward functions. */
  | { kind: 'prompts'; dataset: PromptSource }

/** One of several environments of a run. */
export interface MixMember {
  environment: SingleSpec
  /** Its share of the prompts, relative to the others'; not used where a dataset's column `environment` chooses. */
  weight: number
  system_prompt: string
  user_prompt: string
}

export type EnvironmentSpec =
  | SingleSpec
  /**
   * Several environments, chosen prompt by prompt: by the column `environment` of a dataset (TRL's dict of factories, by the names of
   * `specName`), else by weight. Also the form of one environment that reads a dataset's rows.
   */
  | { kind: 'mix'; members: MixMember[]; dataset: PromptSource | null }

/** A dataset in a few words. */
export function datasetName(dataset: PromptSource): string {
  return dataset.kind === 'hub' ? dataset.repo : dataset.name
}

/** What an environment is called where it is chosen: a name, an address, a class, a dataset; several are joined by " + ". */
export function specName(spec: EnvironmentSpec): string {
  switch (spec.kind) {
    case 'builtin':
      return spec.name
    case 'openenv':
      return spec.url
    case 'custom':
      return spec.called
    case 'prompts':
      return datasetName(spec.dataset)
    case 'mix':
      return spec.members.map(({ environment }) => specName(environment)).join(' + ')
  }
}

/** Every single environment of a spec. */
export function singleSpecs(spec: EnvironmentSpec): readonly SingleSpec[] {
  return spec.kind === 'mix' ? spec.members.map(({ environment }) => environment) : [spec]
}

/** Of several environments: as each was chosen, by the names under which they are measured, in order; undefined for one environment. */
export function chosenNames(spec: EnvironmentSpec, measured: readonly string[]): Record<string, string> | undefined {
  if (spec.kind !== 'mix') return undefined
  return Object.fromEntries(spec.members.map(({ environment }, i) => [measured[i] ?? specName(environment), specName(environment)]))
}

/** The dataset that a spec reads; null for none. */
export function datasetOf(spec: EnvironmentSpec): PromptSource | null {
  return spec.kind === 'prompts' || spec.kind === 'mix' ? spec.dataset : null
}

/** Every dataset that a spec names, its members' too. */
export function datasetsOf(spec: EnvironmentSpec): readonly PromptSource[] {
  const members = spec.kind === 'mix' ? singleSpecs(spec) : []
  return [spec, ...members].flatMap((one) => datasetOf(one) ?? [])
}

/** What of a config may come from a stranger and reach out of the page or run. */
export interface Linked {
  environment: EnvironmentSpec
  rollout_func?: PageFunction
}

/** Whether a stranger's config must wait for a person's word: it names servers, datasets of the Hub, or code. */
export function asksForConsent({ environment, rollout_func }: Linked): boolean {
  return rollout_func !== undefined || specAsks(environment)
}

function specAsks(spec: EnvironmentSpec): boolean {
  return singleSpecs(spec).some(({ kind }) => kind === 'openenv' || kind === 'custom') || datasetsOf(spec).some(({ kind }) => kind === 'hub')
}
