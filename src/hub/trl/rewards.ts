/** A run's reward functions as train.py has them: TRL's own by name, the environment's, and a STUB for what has no Python. */

import type { RunConfig } from '../../core/config'
import { NEEDS_SOLUTION, type RewardFunc } from '../../core/reward-funcs'
import type { Member } from './members'
import { comment, py, pyString } from './python'

/** How TRL makes each built-in; with parameters it is made by a function. */
const MAKERS = {
  soft_overlong_punishment_reward: 'get_soft_overlong_punishment',
  repetition_penalty_reward: 'get_repetition_penalty_reward',
  cosine_scaled_reward: 'get_cosine_scaled_reward',
} as const

type Builtin = Exclude<RewardFunc, { name: 'environment' | 'custom' }>
const isBuiltin = (func: RewardFunc): func is Builtin => func.name !== 'environment' && func.name !== 'custom'
const isMade = (func: Builtin): func is Extract<Builtin, { name: keyof typeof MAKERS }> => func.name in MAKERS

/** The import of what TRL has itself. */
export function rewardImports(funcs: readonly RewardFunc[]): string[] {
  const names = [...new Set(funcs.filter(isBuiltin).map((func) => (isMade(func) ? MAKERS[func.name] : func.name)))].sort()
  return names.length === 0 ? [] : [`from trl.rewards import ${names.join(', ')}`]
}

/** The argument `reward_funcs` of GRPOTrainer. `members`: of a run of several environments. */
export function rewardLines(funcs: readonly RewardFunc[], members: readonly Judged[] = []): string {
  const [only] = funcs
  if (funcs.length === 1 && only?.name === 'environment' && only.take === 'own' && isFree(only, members)) return '        reward_funcs=environment_reward,'
  return ['        reward_funcs=[', ...funcs.map((func) => line(func, members)), '        ],'].join('\n')
}

/** Lines of main that the limits of functions need. */
export function limitImports(funcs: readonly RewardFunc[], members: readonly Judged[]): string {
  const limited = funcs.filter(({ name }) => name !== 'custom')
  const names = [...(limited.some((func) => namesOf(func, members) !== null) ? ['in_environments'] : []), ...(limited.some((func) => comparesSome(func, members)) ? ['with_column'] : [])]
  return names.length === 0 ? '' : `    from limits import ${names.join(', ')}\n`
}

/** Lines of main that end it where nobody judges before a function is written in Python; '' where somebody does. */
export function unjudged({ environment, grpo: { reward_funcs } }: Pick<RunConfig, 'environment' | 'grpo'>): string {
  const called = reward_funcs.flatMap((func) => (func.name === 'custom' ? [func.called] : []))
  if (called.length === 0 || (environment.kind !== 'prompts' && called.length < reward_funcs.length)) return ''
  const [are, them] = called.length === 1 ? ['is', 'it'] : ['are', 'them']
  return `    sys.exit(${pyString(`The page judged with ${called.join(', ')}, which ${are} JavaScript: write ${them} in Python where train.py says STUB, then remove this line.`)})\n`
}

/** Lines of main that say at the start what the rewards lack of the page's; '' where nothing, and where main ends there. */
export function toldStubs(config: Pick<RunConfig, 'environment' | 'grpo'>): string {
  const { reward_funcs } = config.grpo
  const called = reward_funcs.flatMap((func) => (func.name === 'custom' ? [func.called] : []))
  const [are, them] = called.length === 1 ? ['is', 'a STUB'] : ['are', 'STUBs']
  const lacks = [
    ...(called.length > 0 ? [`without ${called.join(', ')}, which ${are} JavaScript and ${them} below`] : []),
    ...(config.environment.kind !== 'prompts' && reward_funcs.some((func) => func.name === 'environment' && func.take !== 'own') ? ["with the environment's own rule in place of the page's, a STUB below"] : []),
  ]
  if (lacks.length === 0 || unjudged(config) !== '') return ''
  return `    if os.environ.get("RANK", "0") == "0":\n        print(${pyString(`The rewards are not those of the page: ${lacks.join(', and ')}.`)})\n`
}

/** Weights of the functions that train.py has. */
export function mappedWeights(funcs: readonly RewardFunc[], weights: readonly number[]): number[] {
  return weights.filter((_, i) => funcs[i]?.name !== 'custom')
}

/** An environment of several: as rows name it, and as it was chosen. */
type Judged = Pick<Member, 'name' | 'chosenAs'>

/** The environments that a function is limited to, by the names of rows; null where it judges all. */
function namesOf({ only }: RewardFunc, members: readonly Judged[]): string[] | null {
  return only === undefined || members.length === 0 ? null : members.filter(({ chosenAs }) => only.includes(chosenAs)).map(({ name }) => name)
}

/** Rows of some environments may lack what the function compares with. */
const comparesSome = ({ name }: RewardFunc, members: readonly Judged[]): boolean => members.length > 0 && NEEDS_SOLUTION.includes(name)
const isFree = (func: RewardFunc, members: readonly Judged[]): boolean => namesOf(func, members) === null && !comparesSome(func, members)

function line(func: RewardFunc, members: readonly Judged[]): string {
  const names = namesOf(func, members)
  if (func.name === 'custom') {
    // Its code must not end the comment.
    const code = func.code.split(/\r\n|[\r\n\u2028\u2029]/).map((each) => `    ${each}`)
    const where = names === null ? '' : ` It judges ${names.join(', ')} alone: in_environments of limits.py.`
    return comment([`STUB: ${func.called} is JavaScript on the page and is left out here, with its weight. Write it in Python:${where}`, ...code].join('\n'), 12)
  }
  const rule =
    func.name !== 'environment' || func.take === 'own'
      ? []
      : [comment(`STUB: on the page the reward is the ${func.take === 'rubric_reward' ? 'last rubric_reward that was sent' : `${func.take} of what the turns gave`}; here it is by the environment's own rule.`, 12)]
  const compared = comparesSome(func, members) ? `with_column(${inPython(func)}, "solution")` : inPython(func)
  const limited = names === null ? compared : `in_environments(${compared}, ${py(names, 12)})`
  return [...rule, `            ${limited},`].join('\n')
}

function inPython(func: Exclude<RewardFunc, { name: 'custom' }>): string {
  if (func.name === 'environment') return 'environment_reward'
  if (!isMade(func)) return func.name
  const { name, only: _, ...parameters } = func
  return `${MAKERS[name]}(${Object.entries(parameters).map(([key, value]) => `${key}=${py(value)}`).join(', ')})`
}
