/** environment.py of a class that was written in the page: the same class in Python, each method to be written; its JavaScript stands beside it. */

import type { PageFunction } from '../../core/environment-spec'
import type { RunRecord } from '../../core/run-record'
import type { Tool } from '../../core/tools'
import { environmentHead, ownNames } from './environment-head'
import { docstring, isIdentifier, methodNames, py, pyString } from './python'
import { typeHint } from './tool-methods'

/** What is known of a class beside its tools. */
export interface WrittenFacts {
  /** Lines of its methods in the code, from 1. */
  lines: Readonly<Record<string, number>>
  /** It draws other scenarios where split is 'heldout'. */
  heldOut: boolean
  /** The reward from which an episode counts as solved. */
  successAt: number
  hasReward: boolean
  /** It rewards at all. */
  judges: boolean
}

const UNKNOWN: WrittenFacts = { lines: {}, heldOut: false, successAt: 1, hasReward: true, judges: true }
/** Names that the contract or the file's own code uses. */
const METHODS = ['reset', 'get_reward', 'random', 'done']
const CLASSES = ['Any', 'Literal', 'PlaygroundEnvironment', 'SYSTEM_PROMPT', 'TOOLS', 'USER_PROMPT', 'Written', 'episodes_of']

/** The text of environment.py. `source`: the file that has the class in JavaScript. */
export function writtenClassScript({ config, environment: { tools } }: RunRecord, { called }: PageFunction, facts: WrittenFacts | null, source: string): string {
  const { lines, successAt, hasReward, judges } = facts ?? UNKNOWN
  const name = isIdentifier(called) && !CLASSES.includes(called) ? called : 'Environment'
  const known = tools.map((tool) => tool.function.name)
  const own = known.map(ownNames(config.tool_edits))
  const methods = methodNames(own, METHODS)
  const refusal = (method: string, id = method): string => {
    const line = Object.hasOwn(lines, id) ? `, line ${lines[id]}` : ''
    return `        raise NotImplementedError(${pyString(`${name}.${method} is to be written: on the page it is ${id} in ${source}${line}`)})`
  }
  const parts = [
    ['    def reset(self, seed: int, split: str, **columns: Any) -> str | None:', `        """${RESET}"""`, refusal('reset')],
    ...tools.map((tool, i) => [...head(tool, methods[i] as string), refusal(methods[i] as string, own[i])]),
    ...(hasReward ? [['    def get_reward(self) -> float | None:', `        """${REWARD}"""`, refusal('get_reward')]] : []),
  ]
  const about = `The environment ${called} for TRL. On the page it is a class in JavaScript (${source}); here its methods are to be written in Python.`
  const ofTools = 'what a method’s types and docstring say changes nothing here.'
  return [
    ...environmentHead({ about, imports: ['from written import Written, episodes_of'], ofTools, tools }, config),
    `class ${name}(Written):`,
    '    """One episode. `self.random` draws by the episode’s seed; `self.done = True` ends the episode.',
    '',
    '    A tool returns a text, or {"text": ..., "reward": ..., "done": True}; what it raises is told to the model, and the episode goes on.',
    '    """',
    '',
    parts.map((each) => each.join('\n')).join('\n\n'),
    '',
    '',
    '# What train.py trains in. The model calls each method by the name on the left.',
    'PlaygroundEnvironment = episodes_of(',
    `    ${name},`,
    '    TOOLS,',
    `    methods=${py(Object.fromEntries(known.map((tool, i) => [tool, methods[i]])), 4)},`,
    `    success_at=${py(successAt)},`,
    `    judges=${py(judges)},`,
    ')',
    '',
  ].join('\n')
}

const RESET = 'Begins an episode; what it returns is added to the prompt. `columns`: those of the dataset’s row, where there is a dataset.'
const REWARD = 'The reward of the whole episode, asked once at its end; None where there is no opinion.'

/** A tool's signature and docstring. */
function head({ function: { description, parameters, return: returned } }: Tool, method: string): string[] {
  const given = Object.entries(parameters.properties ?? {})
  const required = parameters.required ?? []
  const ordered = [...given.filter(([key]) => required.includes(key)), ...given.filter(([key]) => !required.includes(key))]
  // Arguments are given by name: those that Python cannot name reach the method as a dictionary.
  const named = ordered.every(([key]) => isIdentifier(key) && key !== 'self')
  const signature = named ? ordered.map(([key, schema]) => `${key}: ${typeHint(schema)}${required.includes(key) ? '' : ' | None = None'}`) : ['**arguments: Any']
  const one = (text: string | undefined) => (text ?? '').replaceAll(/\s*\n\s*/g, ' ') || 'Not described.'
  const args = named && ordered.length > 0 ? ['', 'Args:', ...ordered.map(([key, schema]) => `    ${key}: ${one(schema.description)}`)] : []
  const returns = returned?.description ? ['', 'Returns:', `    ${one(returned.description)}`] : []
  const hint = returned ? ` -> ${typeHint(returned)}` : ''
  return [`    def ${method}(${['self', ...signature].join(', ')})${hint}:`, `        ${docstring([description || 'Not described.', ...args, ...returns].join('\n'), 8)}`]
}
