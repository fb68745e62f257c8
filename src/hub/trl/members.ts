/** Several environments of one run as runs of their own: each is written down like a single one, in files of its own name. */

import { type SingleSpec, specName } from '../../core/environment-spec'
import { PlaygroundError } from '../../core/errors'
import type { RunRecord } from '../../core/run-record'

export interface Member {
  /** As it is measured: unique in the run. */
  name: string
  /** As it was chosen. */
  chosenAs: string
  weight: number
  /** The run as if this were its only environment. */
  run: RunRecord & { config: { environment: SingleSpec } }
  /** A word for names of files, unique in the run. */
  word: string
}

/** Those of a run of several environments; none for other runs. Throws PlaygroundError('config') where the record does not tell of them. */
export function membersOf(run: RunRecord): Member[] {
  const { config, environment } = run
  const spec = config.environment
  if (spec.kind !== 'mix') return []
  const facts = environment.members ?? []
  if (facts.length !== spec.members.length) {
    throw new PlaygroundError('config', `The run ${run.name} does not tell what its environments are.`, 'Connect to them and save the run again.')
  }
  const words = new Set<string>()
  return facts.map(({ name, tools, ownTools, prompts, discovered }, i) => {
    const member = spec.members[i] as (typeof spec.members)[number]
    const own = new Set((ownTools ?? tools).map((tool) => tool.function.name))
    return {
      name,
      chosenAs: specName(member.environment),
      weight: member.weight,
      word: wordOf(name, words),
      run: {
        ...run,
        config: {
          ...config,
          environment: member.environment,
          system_prompt: prompts.system,
          user_prompt: prompts.user,
          tool_edits: config.tool_edits.filter(({ tool }) => own.has(tool)),
        },
        environment: { name, tools, prompts, discovered: discovered ?? null },
      },
    }
  })
}

function wordOf(name: string, taken: Set<string>): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '').slice(0, 40) || 'own'
  let word = plain
  for (let n = 2; taken.has(word); n++) word = `${plain}_${n}`
  taken.add(word)
  return word
}
