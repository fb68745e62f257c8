/** Reads code of a person's own without running it: syntax errors, and a class's tools, by TRL's environment_factory contract. */

import { type Class, type Comment, type MethodDefinition, parse, type Pattern, type Program, type PropertyDefinition } from 'acorn'
import type { JsonSchema, Tool } from '../../core/tools'
import { functionFields } from './class-fields'
import { rewardWarning, rewardWords } from './class-reward'
import { linesOf } from './code-error'
import { type Doc, readDoc, schemaOf } from './jsdoc'

/** Something to mend, with its place: lines from 1, columns from 0, offsets into the code. */
export interface CodeProblem {
  message: string
  /** The code can be used as it is, though hardly as it is meant. */
  warning?: true
  line: number
  column: number
  from: number
  to: number
}

/** A public method, which the model may call. */
export interface ClassTool {
  tool: Tool
  /** Names of its parameters in order: calls are made by position. */
  params: string[]
  line: number
}

export interface ClassFacts {
  name: string
  line: number
  /** How many its code has. */
  codeLines: number
  /** By name, as TRL lists them. */
  tools: ClassTool[]
  /** Lines of reset and get_reward, where there are such. */
  lines: Readonly<Record<string, number>>
  hasReward: boolean
  /** A method may give a reward with its answer. */
  givesReward: boolean
  /** static held_out = true: it draws other scenarios where split is 'heldout'. */
  heldOut: boolean
  /** static success_at = NUMBER: the reward from which an episode counts as solved. */
  successAt: number
  /** static system_prompt and static user_prompt, where they are texts. */
  prompts: { system: string; user: string }
}

type Parsed = { program: Program; comments: Comment[] } | { problem: CodeProblem }

interface Method {
  node: MethodDefinition
  name: string
  doc: Doc | null
}

/** Names of the contract; they are no tools. */
const KEPT = ['constructor', 'reset', 'get_reward']

function parsed(code: string): Parsed {
  const comments: Comment[] = []
  try {
    return { program: parse(code, { ecmaVersion: 'latest', sourceType: 'script', locations: true, onComment: comments }), comments }
  } catch (error) {
    const { pos = 0, loc = { line: 1, column: 0 }, message } = error as { pos?: number; loc?: { line: number; column: number }; message: string }
    return { problem: { message: `${message.replace(/ \(\d+:\d+\)$/, '')}.`, ...loc, from: pos, to: Math.min(code.length, pos + 1) } }
  }
}

/** What keeps code from being a function called `called`. */
export function functionProblems(code: string, called: string): CodeProblem[] {
  const read = parsed(code)
  if ('problem' in read) return [read.problem]
  const found = read.program.body.flatMap((node) =>
    node.type === 'FunctionDeclaration' ? [node.id.name] : node.type === 'VariableDeclaration' ? node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : [])) : [],
  )
  if (found.includes(called)) return []
  const others = read.program.body.flatMap((node) => (node.type === 'FunctionDeclaration' ? [node.id.name] : []))
  const message = others.length === 0 ? `There is no function called ${called}.` : `There is no function called ${called}, but ${others.join(', ')}: give both the same name.`
  return [{ message, line: 1, column: 0, from: 0, to: 0 }]
}

/** The class that an environment made of this code would have: the last one. null where there is none. */
export function lastClass(code: string): string | null {
  const read = parsed(code)
  return 'problem' in read ? null : ([...classesOf(read.program).keys()].at(-1) ?? null)
}

const classesOf = (program: Program): Map<string, Class> =>
  new Map(program.body.flatMap((node) => (node.type === 'ClassDeclaration' && node.id ? [[node.id.name, node as Class]] : [])))

/** The class `called`, what keeps it from being an environment, and what it can be used with but hardly means; `facts` is null where it cannot be read. */
export function readClass(code: string, called: string): { facts: ClassFacts | null; problems: CodeProblem[]; warnings: CodeProblem[] } {
  const read = parsed(code)
  if ('problem' in read) return { facts: null, problems: [read.problem], warnings: [] }
  const { program, comments } = read
  const classes = classesOf(program)
  const own = classes.get(called)
  if (!own) return { facts: null, problems: [{ message: `There is no class called ${called}.`, line: 1, column: 0, from: 0, to: 0 }], warnings: [] }
  const problems: CodeProblem[] = []
  const complain = (message: string, node: Placed): void => void problems.push(problemAt(message, node))
  const chain = chainOf(own, classes)
  const methods = publicMethods(chain, comments)
  const tools = [...methods.values()]
    .filter(({ name }) => !KEPT.includes(name) && !name.startsWith('_'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((method) => toolOf(method, (message) => complain(message, method.node.key)))
  if (!methods.has('reset')) complain(`${called} has no method reset: it begins an episode.`, own.id ?? own)
  const maker = chain.map((one) => one.body.body.find((node) => node.type === 'MethodDefinition' && node.kind === 'constructor')).find((node) => node !== undefined)
  if (maker?.type === 'MethodDefinition' && maker.value.params.some(({ type }) => type !== 'AssignmentPattern' && type !== 'RestElement')) {
    complain(`The constructor of ${called} is called without arguments.`, maker.key)
  }
  const said = (name: string): unknown => chain.map((one) => staticValue(one, name)).find((value) => value !== undefined)
  const successAt = said('success_at')
  const rewards = rewardWords(program)
  const hasReward = methods.has('get_reward')
  const unrewarded = hasReward ? null : rewardWarning(called, rewards)
  const warn = (message: string, node: Placed): CodeProblem => ({ ...problemAt(message, node), warning: true })
  const fields = functionFields(chain, new Set(methods.keys()), KEPT, code)
  const lines = Object.fromEntries([...methods].map(([name, { node }]) => [name, node.loc?.start.line ?? 1]))
  return {
    facts: {
      name: called,
      line: own.loc?.start.line ?? 1,
      codeLines: linesOf(code),
      tools,
      lines,
      hasReward,
      givesReward: rewards.answers,
      heldOut: said('held_out') === true,
      successAt: typeof successAt === 'number' ? successAt : 1,
      prompts: { system: textOf(said('system_prompt')), user: textOf(said('user_prompt')) },
    },
    problems,
    warnings: [...(unrewarded === null ? [] : [warn(unrewarded, own.id ?? own)]), ...fields.map(({ message, key }) => warn(message, key))],
  }
}

interface Placed {
  start: number
  end: number
  loc?: { start: { line: number; column: number } } | null
}

function problemAt(message: string, node: Placed): CodeProblem {
  const { line = 1, column = 0 } = node.loc?.start ?? {}
  return { message, line, column, from: node.start, to: node.end }
}

/** A class and those of the code that it extends, nearest first. */
function chainOf(own: Class, classes: ReadonlyMap<string, Class>): Class[] {
  const chain = [own]
  for (;;) {
    const parent = chain.at(-1)?.superClass
    const next = parent?.type === 'Identifier' ? classes.get(parent.name) : undefined
    if (!next || chain.includes(next)) return chain
    chain.push(next)
  }
}

/** Plain methods by name, the nearest class's first: no getters, static or private ones. */
function publicMethods(chain: readonly Class[], comments: readonly Comment[]): Map<string, Method> {
  const methods = new Map<string, Method>()
  for (const one of chain) {
    let after = one.body.start
    for (const node of one.body.body) {
      const before = after
      after = node.end
      if (node.type !== 'MethodDefinition' || node.kind !== 'method' || node.static || node.computed) continue
      const name = node.key.type === 'Identifier' ? node.key.name : null
      if (name === null || methods.has(name)) continue
      const comment = comments.findLast(({ type, value, start, end }) => type === 'Block' && value.startsWith('*') && start >= before && end <= node.start)
      methods.set(name, { node, name, doc: comment ? readDoc(comment.value) : null })
    }
  }
  return methods
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function staticValue(one: Class, name: string): unknown {
  const node = one.body.body.find((each): each is PropertyDefinition => each.type === 'PropertyDefinition' && each.static && each.key.type === 'Identifier' && each.key.name === name)
  return node?.value?.type === 'Literal' ? node.value.value : undefined
}

/** A method as a tool; what is missing in its JSDoc is complained of, and left out. */
function toolOf({ node, name, doc }: Method, complain: (message: string) => void): ClassTool {
  const params = node.value.params.map((param) => paramOf(param))
  const hide = `Describe it in JSDoc before the method, or begin its name with _ to hide it from the model.`
  if (!doc || doc.description === '') complain(`${name} is a tool without a description. ${hide}`)
  if (params.some((param) => param === null)) complain(`A parameter of ${name} has no plain name: a model gives each argument by its name.`)
  const known = params.flatMap((param) => param ?? [])
  const properties = known.flatMap(({ name: param }): [string, JsonSchema][] => {
    const said = doc?.params.find((each) => each.name === param)
    if (!said || said.type === null) {
      complain(`${name} has no type for ${param}. Write @param {string} ${param} - what it is.`)
      return []
    }
    const schema = schemaOf(said.type)
    if (!schema) complain(`The type {${said.type}} of ${param} in ${name} is none that a tool can have. Use string, number, integer, boolean, object, string[] or 'a'|'b'.`)
    if (said.description === '') complain(`${name} does not say what ${param} is. Write @param {${said.type}} ${param} - what it is.`)
    return [[param, { ...schema, description: said.description }]]
  })
  for (const { name: param } of doc?.params ?? []) {
    if (!known.some((each) => each.name === param)) complain(`The JSDoc of ${name} tells of ${param}, which is no parameter of it.`)
  }
  const required = known.filter(({ name: param, optional }) => !optional && !doc?.params.some((each) => each.name === param && each.optional)).map((each) => each.name)
  const parameters: JsonSchema = { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 ? { required } : {}) }
  const returned = doc?.returns?.type ? schemaOf(doc.returns.type) : null
  const returns = returned && { return: { ...returned, ...(doc?.returns?.description ? { description: doc.returns.description } : {}) } }
  return {
    tool: { type: 'function', function: { name, description: doc?.description ?? '', parameters, ...returns } },
    params: known.map((each) => each.name),
    line: node.loc?.start.line ?? 1,
  }
}

function paramOf(param: Pattern): { name: string; optional: boolean } | null {
  if (param.type === 'Identifier') return { name: param.name, optional: false }
  return param.type === 'AssignmentPattern' && param.left.type === 'Identifier' ? { name: param.left.name, optional: true } : null
}
